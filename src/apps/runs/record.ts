import { eq, sql } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { utcDay } from '../../kernel/time.ts'
import { apps } from '../tables.ts'
import { minutesBucket, type Outcome, successLowOf, type Tally } from './counting.ts'
import type { ShareVerdict } from './schemas.ts'
import { packDays, packMinutes, packRecords, packUsers, type runs } from './tables.ts'

type Run = typeof runs.$inferSelect
type Row = typeof packRecords.$inferSelect
type Sums = Partial<Omit<Row, 'pack' | 'version' | 'lastRunAt'>>

/** Version number of the row for all versions. */
export const allVersions = 0

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
