import { and, asc, desc, eq, gte, inArray } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { iso, lastDays } from '../../kernel/time.ts'
import {
  confidenceOf,
  countedOf,
  medianOf,
  outcomes,
  successesOf,
  successLowOf,
  type Tally,
} from './counting.ts'
import { recordDays } from './limits.ts'
import { allVersions } from './record.ts'
import type { DayRecord, RecordBody, VersionRecord } from './schemas.ts'
import { packDays, packMinutes, packRecords } from './tables.ts'

type Row = typeof packRecords.$inferSelect

const versionsShown = 100

/** Returns the public record of a pack (docs/spec/packs-and-runs.md, "Track records"). */
export async function getRecord(ctx: AppContext, pack: string): Promise<RecordBody> {
  const { read } = ctx.db
  const days = lastDays(ctx.clock, recordDays)
  const [rows, byDay, minutes] = await Promise.all([
    read
      .select()
      .from(packRecords)
      .where(eq(packRecords.pack, pack))
      .orderBy(desc(packRecords.version))
      .limit(versionsShown + 1),
    read
      .select()
      .from(packDays)
      .where(and(eq(packDays.pack, pack), gte(packDays.day, days[0] ?? ''))),
    read
      .select({ value: packMinutes.minutes, count: packMinutes.runs })
      .from(packMinutes)
      .where(eq(packMinutes.pack, pack))
      .orderBy(asc(packMinutes.minutes)),
  ])
  const all = rows.find(({ version }) => version === allVersions) ?? (await findAll(read, pack))
  const known = new Map(byDay.map((row) => [row.day, row]))
  const recent = days.slice(-30).reduce((sum, day) => sum + (known.get(day)?.runs ?? 0), 0)
  return {
    ...presentTally(all ?? nothing),
    ...presentUsers(all),
    runs30d: recent,
    lastRunAt: all?.lastRunAt == null ? null : iso(all.lastRunAt),
    medianMinutes: medianOf(minutes),
    byVersion: rows.filter(({ version }) => version !== allVersions).map(presentVersion),
    byDay: days.flatMap((day) => presentDay(known.get(day))),
  }
}

const findAll = async (db: Db, pack: string): Promise<Row | undefined> => {
  const isAll = and(eq(packRecords.pack, pack), eq(packRecords.version, allVersions))
  const [row] = await db.select().from(packRecords).where(isAll)
  return row
}

const nothing = { runs: 0, worked: 0, partly: 0, failed: 0, abandoned: 0, expired: 0 }

const tenth = (units: number): number => units / 10

function presentTally(row: Tally & { runs: number }) {
  const counted = countedOf(row)
  const [worked, partly, failed, abandoned, expired] = outcomes.map((name) => tenth(row[name]))
  return {
    runs: row.runs,
    counted,
    reported: counted - (expired ?? 0),
    worked: worked ?? 0,
    partly: partly ?? 0,
    failed: failed ?? 0,
    abandoned: abandoned ?? 0,
    expired: expired ?? 0,
    successRate: counted > 0 ? rounded(successesOf(row) / counted) : null,
    successLow: rounded(successLowOf(row)),
  }
}

const rounded = (share: number): number => Math.round(share * 10_000) / 10_000

const presentUsers = (row: Row | undefined) => ({
  distinctAgents: row?.agents ?? 0,
  distinctOwners: row?.owners ?? 0,
  verifiedRuns: row?.verified ?? 0,
  sharePaidUsd: (row?.sharePaid ?? 0) / 1_000_000,
  shareOverdue: row?.shareOverdue ?? 0,
  shares: {
    verified: row?.shareVerified ?? 0,
    unlinked: row?.shareUnlinked ?? 0,
    mismatch: row?.shareMismatch ?? 0,
    no_proof: row?.shareNoProof ?? 0,
    unreadable: row?.shareUnreadable ?? 0,
  },
  confidence: confidenceOf(row ? countedOf(row) : 0, row?.owners ?? 0),
})

const presentVersion = (row: Row): VersionRecord => ({
  version: row.version,
  ...presentTally(row),
})

const presentDay = (row: typeof packDays.$inferSelect | undefined): DayRecord[] =>
  row ? [{ day: row.day, ...presentTally(row) }] : []

/** The rate of a pack with its denominator. */
export type RecordSummary = Pick<RecordBody, 'counted' | 'successRate' | 'successLow'>

/** Returns the rates of packs by id. Packs without a run are missing. */
export async function findSummaries(
  { db }: AppContext,
  packs: string[],
): Promise<Map<string, RecordSummary>> {
  const rows = await db.read
    .select()
    .from(packRecords)
    .where(and(inArray(packRecords.pack, packs), eq(packRecords.version, allVersions)))
  return new Map(rows.map((row) => [row.pack, presentTally(row)]))
}
