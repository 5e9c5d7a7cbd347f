import type { AppContext } from '../context.ts'
import { agents } from '../hosting/agents/tables.ts'
import { apps, blockedPages, opens, remixes, versions } from '../hosting/apps/tables.ts'
import { assets } from '../hosting/apps/assets/tables.ts'
import { itemUses } from '../hosting/explore/tables.ts'
import { appeals } from '../hosting/apps/appeal/tables.ts'
import { audit } from '../hosting/audit/tables.ts'
import { reports } from '../hosting/reports/tables.ts'
import { deliveries, hooks } from '../hosting/me/hooks/tables.ts'
import { noteCounts, notes } from '../hosting/notifications/tables.ts'
import {
  identities,
  passkeys,
  people,
  recoveryCodes,
  sessions,
  usedTickets,
} from '../hosting/people/tables.ts'
import { comments, reviews } from '../hosting/reviews/tables.ts'
import { storedResponses } from '../idempotency/tables.ts'
import { events, jobs } from '../jobs/tables.ts'
import { keys } from '../keys/tables.ts'
import { accounts, caps, entries, freeDays, holds } from '../ledger/tables.ts'

const tables = {
  agents,
  keys,
  apps,
  versions,
  assets,
  badPages: blockedPages,
  opens,
  remixes,
  reports,
  appeals,
  audit,
  answers: storedResponses,
  jobs,
  events,
  itemUses,
  reviews,
  comments,
  notes,
  noteCounts,
  hooks,
  deliveries,
  people,
  recoveryCodes,
  sessions,
  passkeys,
  identities,
  usedTickets,
  accounts,
  entries,
  holds,
  caps,
  freeDays,
}

/** Every row of every table, and what lies in the store: what a refusal may not change. */
export async function keptBy(ctx: AppContext): Promise<Record<string, unknown>> {
  const rows = Object.entries(tables).map(async ([name, table]) => {
    const all = await ctx.db.read.select().from(table)
    return [name, all.map((row) => Bun.inspect(row, { sorted: true })).sort()]
  })
  const { files, bytes } = await ctx.storage.usage()
  return { ...Object.fromEntries(await Promise.all(rows)), files, bytes }
}
