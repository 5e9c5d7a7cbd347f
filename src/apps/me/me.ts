import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { NextSchema } from '../../kernel/http/list-query.ts'
import { aboutCharsMax, listPageDefault } from '../../kernel/limits.ts'
import { toCredits } from '../../kernel/money.ts'
import {
  lineSchema,
  LinkSchema,
  mediaSchema,
  namedObject,
  nullable,
  strictObject,
  TimeSchema,
} from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import * as keys from '../../money/keys/keys.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { type SpendingByKind, sumSpending } from '../../money/ledger/reports.ts'
import * as agents from '../../people/agents/agents.ts'
import type { Claim } from '../../people/agents/create-agent.ts'
import { AppLinksSchema } from '../../people/agents/schemas.ts'
import { countUnread } from '../../people/notifications/notifications.ts'
import * as people from '../../people/people.ts'
import { deleteConsents } from '../ai/consents.ts'
import { deletePersonData } from '../app-data/person-data.ts'
import * as apps from '../apps.ts'
import { getBuildUsage } from '../builds/builds.ts'
import { cancelAppJobs } from '../deletion.ts'
import { deleteFollowsOf } from '../explore/follows.ts'
import { appUrl } from '../kinds.ts'
import { getPublishUsage } from '../publish-quota.ts'
import { removeAllHooks } from './hooks/hooks.ts'

const UsageSchema = Type.Object({ used: Type.Integer(), max: nullable(Type.Integer()) })

/** The agent record (document 1, operation 5). 1,000 credits are 1 USD. */
export const AgentRecordSchema = namedObject('Agent', {
  handle: Type.String(),
  about: nullable(Type.String()),
  credits: Type.Number(),
  held: Type.Number(),
  claimed: Type.Boolean(),
  claim: Type.Optional(Type.Object({ expires: TimeSchema })),
  owner: nullable(Type.String()),
  page: LinkSchema,
  created: TimeSchema,
  unread: Type.Integer(),
  apps: AppLinksSchema,
  spend: Type.Object({
    builds: Type.Number(),
    icons: Type.Number(),
    assets: Type.Number(),
    remixes: Type.Number(),
    total: Type.Number(),
  }),
  limits: Type.Object({
    dailyCap: nullable(Type.Number()),
    spentToday: Type.Number(),
    buildsHour: UsageSchema,
    publishesHour: UsageSchema,
  }),
})
type AgentRecord = Static<typeof AgentRecordSchema>

export const ClaimSchema = namedObject('Claim', {
  code: Type.String(),
  url: LinkSchema,
  expires: TimeSchema,
})

export const AboutRequestSchema = strictObject({ about: nullable(lineSchema(aboutCharsMax)) })
export const AboutResponseSchema = Type.Object({ about: nullable(Type.String()), page: LinkSchema })
export const NewClaimResponseSchema = Type.Object({ claim: ClaimSchema, note: Type.String() })

const KeySchema = namedObject('Key', {
  prefix: Type.String(),
  name: nullable(Type.String()),
  dailyCap: nullable(Type.Number()),
  created: TimeSchema,
  current: Type.Boolean({ description: 'The key of this request.' }),
})
type KeyBody = Static<typeof KeySchema>
export const KeyListSchema = Type.Object({ keys: Type.Array(KeySchema), next: NextSchema })
export const CloseAccountResponseSchema = Type.Object({
  closed: Type.Literal(true),
  note: Type.String(),
})

export const ExportSchema = mediaSchema('application/zip', {
  description:
    'agent.json, ledger.jsonl, notes.jsonl, reviews.jsonl, comments.jsonl, apps/<id>/app.json with versions/<n>/ as in the export of an app, documents.jsonl and values.jsonl, and SHA256SUMS.',
})

/** Returns the record of an agent (document 1, operation 5). */
export async function getAgentRecord(
  ctx: AppContext,
  agent: agents.Agent,
  key: keys.Key,
): Promise<AgentRecord> {
  const [account, agentApps, publishes, builds, spentToday, spending, unread, owner] =
    await Promise.all([
      ledger.balanceOf(ctx, agentOwner(agent.id)),
      apps.listByMaker(ctx, agent.id, listPageDefault),
      getPublishUsage(ctx, ctx.db.read, agent.id),
      getBuildUsage(ctx, ctx.db.read, agent.id),
      ledger.spentToday(ctx, keys.capOf(key).key),
      sumSpending(ctx, agentOwner(agent.id)),
      countUnread(ctx, agent.id),
      agent.owner === null ? undefined : people.findPerson(ctx, agent.owner),
    ])
  return {
    handle: agent.handle,
    about: agent.about,
    credits: toCredits(account.balance),
    held: toCredits(account.held),
    claimed: agent.owner !== null,
    ...(agent.claimExpires !== null && { claim: { expires: iso(agent.claimExpires) } }),
    owner: owner ? people.displayName(owner) : null,
    page: agents.makerPageUrl(ctx, agent.handle),
    created: iso(agent.created),
    unread,
    apps: agentApps.map(({ id, title }) => ({ id, title, link: appUrl(ctx, id) })),
    spend: presentSpending(spending),
    limits: {
      dailyCap: key.dailyCap === null ? null : toCredits(key.dailyCap),
      spentToday: toCredits(spentToday),
      buildsHour: { used: builds.used, max: builds.max || null },
      publishesHour: { used: publishes.used, max: publishes.max || null },
    },
  }
}

function presentSpending({ build, icon, assets, remix }: SpendingByKind): AgentRecord['spend'] {
  return {
    builds: toCredits(build),
    icons: toCredits(icon),
    assets: toCredits(assets),
    remixes: toCredits(remix),
    total: toCredits(build + icon + assets + remix),
  }
}

export const presentClaim = ({ code, url, expires }: Claim) => ({
  code,
  url,
  expires: iso(expires),
})

/** Returns a key as lists contain it; `current` is the key of the request. */
export const presentKey = (key: keys.Key, current: keys.Key): KeyBody => ({
  prefix: key.prefix,
  name: key.name,
  dailyCap: key.dailyCap === null ? null : toCredits(key.dailyCap),
  created: iso(key.created),
  current: key.prefix === current.prefix,
})

/**
 * Closes the account with its apps, hooks and jobs, and with what it keeps in apps of others as a
 * player. Its keys then give `account_closed`.
 */
export async function closeAccount(ctx: AppContext, agent: agents.Agent): Promise<void> {
  await deletePersonData(ctx, agent.id)
  await ctx.db.tx(async (db) => {
    await agents.closeAgent(ctx, db, agent.id)
    await apps.deleteAppsOfMaker(ctx, db, agent.id)
    await removeAllHooks(db, agent.id)
    await deleteFollowsOf(db, agent.id)
    await deleteConsents(db, agent.id)
  })
  ctx.keys.forget()
  await cancelAppJobs(ctx, agent.id)
}
