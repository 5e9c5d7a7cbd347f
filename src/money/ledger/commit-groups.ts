/**
 * Commit groups: the units that wait for one commit run on one view of their rows, and each changed
 * row is written once (docs/ledger.md).
 */
import type { Db, Engine } from '../../kernel/db/engine.ts'
import { DatabaseBusy, isWriteUnavailable } from '../../kernel/db/error.ts'
import type { Clock } from '../../kernel/time.ts'
import type { ChargeObserver } from './holds.ts'
import type { SettledRow } from './settlement-rows.ts'
import type { Unit, UnitResult } from './units.ts'
import { LedgerView } from './view.ts'

/** A group took too long. Its units may still be committed, until `ended` resolves. */
export class LateCommit extends DatabaseBusy {
  constructor(
    ms: number,
    readonly ended: Promise<void>,
  ) {
    super(`No commit of charges within ${ms} ms.`)
  }
}

const waitingUnitsMax = 10_000
const groupUnitsMax = 256

/** The parts of AppContext that ledger writes use beside a transaction. */
export interface LedgerContext {
  clock: Clock
  onCharge?: ChargeObserver | undefined
}

/**
 * Runs units in a transaction. Each has its result, or the error for which it changed nothing.
 * Throws what the database and the rows of other modules throw; the transaction then has to end.
 */
export async function runUnits(
  ctx: LedgerContext,
  db: Db,
  units: Unit[],
): Promise<PromiseSettledResult<UnitResult>[]> {
  // Every await costs each unit of the group a turn of the microtasks.
  for (const { rows = [] } of units) for (const row of rows) if (row.lock) await row.lock(db)
  const view = new LedgerView(ctx.clock.now())
  const needs = units.map((unit) => unit.needs)
  await view.load(db, needs)
  const results = units.map(({ run }) => view.attempt(run))
  // The rows come after the ledger's: statements of a transaction run in the order of their calls.
  await Promise.all([view.write(db), writeRows(db, units, results)])
  for (const result of results) {
    const { hold, balance } = result.status === 'fulfilled' ? result.value : {}
    const pending = hold && balance !== undefined && ctx.onCharge?.(db, hold, balance)
    if (pending) await pending
  }
  return results
}

/** Writes the rows that other modules add to settlements, those of one kind together. */
async function writeRows(
  db: Db,
  units: Unit[],
  results: PromiseSettledResult<UnitResult>[],
): Promise<void> {
  const settled = units.flatMap(({ rows = [] }, at): SettledRow[] => {
    const result = results[at]
    if (result?.status !== 'fulfilled' || !result.value.isChanged) return []
    const { hold: ended } = result.value
    return rows.map((row) => ({ row, ended }))
  })
  for (const rows of Map.groupBy(settled, ({ row }) => row.kind).values())
    await rows[0]?.row.write(db, rows)
}

interface WaitingUnit {
  unit: Unit
  resolve(result: UnitResult): void
  reject(error: unknown): void
}

type GroupContext = LedgerContext & { db: Engine }

/** A `soft` group has holds alone, and its commit need not reach the disk. */
type GroupKind = 'soft' | 'durable'

/**
 * The units of a process that wait for a commit. One group of each kind runs at a time, and takes
 * what waits when its transaction begins. A durable one takes the holds that wait, too.
 */
export class CommitGroups {
  readonly #waiting: Record<GroupKind, WaitingUnit[]> = { soft: [], durable: [] }
  readonly #states: Record<GroupKind, 'idle' | 'scheduled' | 'running'> = {
    soft: 'idle',
    durable: 'idle',
  }

  /**
   * `limitMs` is how long a group may take, because a stopped PostgreSQL server never responds. Its
   * units are rejected with LateCommit then.
   */
  constructor(readonly limitMs: number) {}

  /** Runs a unit in the next group. Rejects with DatabaseBusy when too many units wait. */
  commit(ctx: GroupContext, unit: Unit): Promise<UnitResult> {
    const { promise, resolve, reject } = Promise.withResolvers<UnitResult>()
    const waiting = this.#waiting[unit.isSoft ? 'soft' : 'durable']
    if (waiting.length < waitingUnitsMax) {
      waiting.push({ unit, resolve, reject })
      this.#schedule(ctx)
    } else reject(new DatabaseBusy('Too many charges wait for the database.'))
    return promise
  }

  #schedule(ctx: GroupContext): void {
    for (const kind of ['durable', 'soft'] as const) {
      if (this.#states.durable === 'scheduled') return
      if (this.#states[kind] !== 'idle' || this.#waiting[kind].length === 0) continue
      this.#states[kind] = 'scheduled'
      void this.#run(ctx, kind)
    }
  }

  async #run(ctx: GroupContext, kind: GroupKind): Promise<void> {
    let group: WaitingUnit[] | undefined
    const take = (): WaitingUnit[] => (group ??= this.#take(kind))
    const late = Promise.withResolvers<void>()
    const ended = commitGroup(ctx, take, kind === 'soft')
    const timer = setTimeout(() => {
      const error = new LateCommit(this.limitMs, ended)
      for (const { reject } of take()) reject(error)
      late.resolve()
    }, this.limitMs)
    await Promise.race([ended, late.promise])
    clearTimeout(timer)
    this.#states[kind] = 'idle'
    this.#schedule(ctx)
  }

  /** Settlements come first, because they return credits that holds may need. */
  #take(kind: GroupKind): WaitingUnit[] {
    const { soft, durable } = this.#waiting
    const isTakenByOther = kind === 'soft' && this.#states.durable === 'scheduled'
    this.#states[kind] = 'running'
    if (isTakenByOther) return []
    const first = kind === 'soft' ? [] : durable.splice(0, groupUnitsMax)
    return [...first, ...soft.splice(0, groupUnitsMax - first.length)]
  }
}

/**
 * Commits a group and acknowledges its units. Where the database or a row of another module rejects
 * a write, the units run again, each in a transaction of its own.
 */
async function commitGroup(
  ctx: GroupContext,
  take: () => WaitingUnit[],
  isSoft: boolean,
): Promise<void> {
  let rejected: unknown
  try {
    const results = await ctx.db.tx(async (db) => {
      const units = take().map(({ unit }) => unit)
      return runUnits(ctx, db, units).catch((error: unknown) => {
        rejected = error
        throw error
      })
    }, isSoft)
    for (const [at, { resolve, reject }] of take().entries()) {
      const result = results[at]
      if (result?.status === 'fulfilled') resolve(result.value)
      else reject(result?.reason)
    }
  } catch (error) {
    const group = take()
    if (group.length > 1 && error === rejected && !isWriteUnavailable(error)) {
      await Promise.all(group.map((one) => commitGroup(ctx, () => [one], isSoft)))
    } else for (const { reject } of group) reject(error)
  }
}
