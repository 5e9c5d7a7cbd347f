import { and, asc, desc, eq, gte, inArray, sql } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { iso, lastDays, utcDay } from '../../kernel/time.ts'
import { apps } from '../tables.ts'
import {
  confidenceOf,
  countedOf,
  medianOf,
  minutesBucket,
  type Outcome,
  outcomes,
  successesOf,
  successLowOf,
  type Tally,
} from './counting.ts'
import { recordDays } from './limits.ts'
import type { DayRecord, RecordBody, ShareVerdict, VersionRecord } from './schemas.ts'
import { packDays, packMinutes, packRecords, packUsers, type runs } from './tables.ts'

type Run = typeof runs.$inferSelect
type Row = typeof packRecords.$inferSelect
type Sums = Partial<Omit<Row, 'pack' | 'version' | 'lastRunAt'>>

/** Version number of the row for all versions. */
const allVersions = 0

/** Counts a started run. Call it in the transaction that inserts the run. */
export async function addStartedRun(db: Db, { pack, version, day, created }: Run): Promise<void> {
  const at = { lastRunAt: created }
  await addToRecord(db, pack, allVersions, { runs: 1 }, at)
  await addToRecord(db, pack, version, { runs: 1 }, at)
  await addToDay(db, pack, day, { runs: 1 })
}

/** The end of a run: its outcome and its time. */
export interface RunEnd {
  outcome: Outcome
  at: number
  minutes?: number | null
  isVerified?: boolean
}

/** Adds the end of a run to the record, in the transaction that closes the run. */
export async function addEndedRun(db: Db, run: Run, end: RunEnd): Promise<void> {
  const { pack, version, counted, weight } = run
  const verified = end.isVerified ? { verified: 1 } : {}
  if (!counted) {
    await addToRecord(db, pack, version, verified)
    await addToRecord(db, pack, allVersions, verified)
    return
  }
  const tally = { [end.outcome]: weight }
  const agents = await addUser(db, pack, `agent ${run.agent}`)
  const owners = await addUser(db, pack, `owner ${run.owner}`)
  await addToRecord(db, pack, version, { ...tally, ...verified })
  const all = await addToRecord(db, pack, allVersions, { ...tally, ...verified, agents, owners })
  await addToDay(db, pack, utcDay(end.at), tally)
  if (end.minutes != null) await addMinutes(db, pack, end.minutes)
  await setSuccessLow(db, pack, successLowOf(all))
}

const verdictColumns = {
  verified: 'shareVerified',
  unlinked: 'shareUnlinked',
  mismatch: 'shareMismatch',
  no_proof: 'shareNoProof',
  unreadable: 'shareUnreadable',
} as const satisfies Record<ShareVerdict, keyof Row>

/** A change of the verdict on a share. `from` is null for one that becomes due. */
export interface ShareChange {
  from: ShareVerdict | null
  to: ShareVerdict
  /** Units of USDC. */
  paid?: number
}

/** Moves a share between verdicts, in the transaction that changes its run. */
export async function changeShares(db: Db, run: Run, { from, to, paid }: ShareChange) {
  const sums: Sums = {
    ...(from && { [verdictColumns[from]]: -1 }),
    [verdictColumns[to]]: 1,
    ...(paid !== undefined && { sharePaid: paid, verified: isVerified(run) ? 0 : 1 }),
    ...(paid !== undefined && run.state === 'overdue' && { shareOverdue: -1 }),
  }
  for (const version of [run.version, allVersions]) await addToRecord(db, run.pack, version, sums)
}

/** Counts a share that became overdue. */
export async function addOverdueShare(db: Db, { pack, version }: Run): Promise<void> {
  for (const one of [version, allVersions]) await addToRecord(db, pack, one, { shareOverdue: 1 })
}

/** Returns whether evidence of a run was verified. */
export const isVerified = ({ evidence, steps }: Pick<Run, 'evidence' | 'steps'>): boolean =>
  [...evidence, ...steps.flatMap((step) => step.evidence)].some(({ verified }) => verified)

async function addToRecord(
  db: Db,
  pack: string,
  version: number,
  sums: Sums,
  set: Partial<Pick<Row, 'lastRunAt'>> = {},
): Promise<Row> {
  const columns = Object.entries(sums).map(([name, more]) => [
    name,
    sql`${Reflect.get(packRecords, name)} + ${more}`,
  ])
  const added = { ...Object.fromEntries(columns), ...set }
  const target = [packRecords.pack, packRecords.version]
  const [row] = await db
    .insert(packRecords)
    .values({ pack, version, ...sums, ...set })
    .onConflictDoUpdate({ target, set: Object.keys(added).length > 0 ? added : { version } })
    .returning()
  if (!row) throw new Error('the record of the pack was not stored')
  return row
}

async function addToDay(
  db: Db,
  pack: string,
  day: string,
  sums: Partial<Tally & { runs: number }>,
): Promise<void> {
  const columns = Object.entries(sums).map(([name, more]) => [
    name,
    sql`${Reflect.get(packDays, name)} + ${more}`,
  ])
  await db
    .insert(packDays)
    .values({ pack, day, ...sums })
    .onConflictDoUpdate({
      target: [packDays.pack, packDays.day],
      set: Object.fromEntries(columns),
    })
}

/** Remembers a user of a pack. Returns 1 for a new one and 0 for a known one. */
async function addUser(db: Db, pack: string, user: string): Promise<number> {
  const added = await db
    .insert(packUsers)
    .values({ pack, user })
    .onConflictDoNothing()
    .returning({ user: packUsers.user })
  return added.length
}

async function addMinutes(db: Db, pack: string, exact: number): Promise<void> {
  await db
    .insert(packMinutes)
    .values({ pack, minutes: minutesBucket(exact), runs: 1 })
    .onConflictDoUpdate({
      target: [packMinutes.pack, packMinutes.minutes],
      set: { runs: sql`${packMinutes.runs} + 1` },
    })
}

/** Deletes the records of a purged pack. */
export async function deleteRecords(db: Db, pack: string): Promise<void> {
  for (const owned of [packRecords, packDays, packUsers, packMinutes])
    await db.delete(owned).where(eq(owned.pack, pack))
}

const millionths = 1_000_000

/** Sets the lower bound of the success rate of a pack, by which Explore ranks records. */
async function setSuccessLow(db: Db, id: string, low: number): Promise<void> {
  await db
    .update(apps)
    .set({ successLow: Math.round(low * millionths) })
    .where(eq(apps.id, id))
}

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
