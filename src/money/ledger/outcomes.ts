import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Engine } from '../../kernel/db/engine.ts'
import { DatabaseBusy, databaseErrorKind } from '../../kernel/db/error.ts'
import { ApiError } from '../../kernel/errors.ts'
import {
  pendingOutcomesMax,
  settleAttemptMs,
  settleRetriesMs,
  settleWaitMs,
} from '../../kernel/limits.ts'
import type { Log } from '../../kernel/log.ts'
import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { type Clock, monotonic } from '../../kernel/time.ts'
import { CommitGroups, type LedgerContext } from './commit-groups.ts'
import { findHold, type Hold, type HoldRequest } from './holds.ts'
import type { RowKind, SettlementRow } from './settlement-rows.ts'
import { endUnit } from './units.ts'

/** The parts of AppContext that paid work uses. */
export interface PaymentContext extends LedgerContext {
  db: Engine
  log: Log
  pendingSettlements: PendingSettlements
}

/** A place of a text in the journal. */
interface JournalRecord {
  text: string
}

/** Texts that survive a crash and a full disk (store/journal.ts). */
interface OutcomeJournal {
  /** The records that an earlier process left. */
  readonly found: JournalRecord[]
  /** Writes a record durably. Undefined when there is no space for it. */
  append(text: string): Promise<JournalRecord | undefined>
  remove(record: JournalRecord): Promise<void>
  close(): Promise<void>
}

/** The hold as it ended, or the place where its outcome waits for the database. */
type OutcomeResult =
  | { hold: Hold | undefined; pending?: undefined }
  | { hold?: undefined; pending: 'journal' | 'memory' }

interface PendingOutcome extends Outcome {
  ctx: PaymentContext
  record?: JournalRecord | undefined
  /** The error for which a settlement became a release. */
  error?: unknown
  ended: PromiseWithResolvers<Hold | undefined>
}

const concurrentRetries = 16
/** A larger outcome is journaled with its rows' fallbacks, because the others need space too. */
const recordCharsMax = 262_144

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** The running paid work, and the outcomes that the database has not taken yet. */
    readonly pendingSettlements: PendingSettlements
  }
}

/**
 * The running paid work of this process, and the outcomes that the database has not taken yet. An
 * outcome wins however late the database takes it: it is retried while the process lives, and the
 * journal keeps it beyond that. Neither the deadline of its hold nor another start charges more.
 */
export class PendingSettlements {
  readonly groups: CommitGroups
  /** Monotonic deadlines of running work, by the ref of its hold. */
  private readonly running = new Map<string, number>()
  /** By the id of the hold. */
  private readonly pending = new Map<string, PendingOutcome>()
  private readonly parsers = new Map<string, RowParser>()
  private journal: OutcomeJournal | undefined
  private retrying: Promise<void> | undefined
  private isClosed = false

  constructor(
    private readonly waits: { retriesMs: readonly number[]; attemptMs: number; waitMs: number } = {
      retriesMs: settleRetriesMs,
      attemptMs: settleAttemptMs,
      waitMs: settleWaitMs,
    },
  ) {
    this.groups = new CommitGroups(waits.attemptMs)
  }

  /** Registers a kind of rows that the journal may have. Call it before `replay`. */
  register<Context, Data>(ctx: Context, { kind, parse }: RowKind<Context, Data>): void {
    this.parsers.set(kind, (data) => parse(ctx, data))
  }

  /** Uses a journal, and begins to settle the outcomes that an earlier process left in it. */
  replay(ctx: PaymentContext, journal: OutcomeJournal): void {
    this.journal = journal
    for (const record of journal.found) {
      const outcome = parseOutcome(ctx, this.parsers, record.text)
      if (outcome) this.addPending(ctx, outcome).record = record
    }
    if (this.pending.size > 0) ctx.log.warn('ledger.journal_replay', { count: this.pending.size })
    this.startRetries()
  }

  /** Begins work, before its hold exists. Throws DatabaseBusy when too many outcomes wait. */
  begin({ clock }: { clock: Clock }, { ref, ms }: Pick<HoldRequest, 'ref' | 'ms'>): void {
    if (this.pending.size >= pendingOutcomesMax) {
      throw new DatabaseBusy('Too many settlements wait for the database.')
    }
    if (!this.running.has(ref)) this.running.set(ref, monotonic(clock) + ms)
  }

  isRunning = (ref: string): boolean => this.running.has(ref)

  /** Ends work whose hold was not opened. */
  cancel = (ref: string): unknown => this.running.delete(ref)

  /**
   * Returns whether this process ends the hold: its work runs before its deadline, or waits here.
   */
  owns({ clock }: { clock: Clock }, { ref, id }: Hold): boolean {
    return (this.running.get(ref) ?? -Infinity) > monotonic(clock) || this.pending.has(id)
  }

  get pendingCount(): number {
    return this.pending.size
  }

  /**
   * Ends a hold. While the database does not take it, journals the outcome, retries it in the
   * background and waits a bounded time. Throws an ApiError of a row, and a `unique` conflict.
   */
  async end(ctx: PaymentContext, outcome: Outcome): Promise<OutcomeResult> {
    try {
      const hold = await this.commit(ctx, outcome)
      this.running.delete(outcome.hold.ref)
      return { hold }
    } catch (error) {
      if (isFinal(error)) throw error
      ctx.log.error('ledger.hold_not_ended', error, { ref: outcome.hold.ref })
    }
    const pending = await this.keep(ctx, outcome)
    const timeout = Promise.withResolvers<undefined>()
    const timer = setTimeout(timeout.resolve, this.waits.waitMs)
    const isEnded = await Promise.race([pending.ended.promise.then(() => true), timeout.promise])
    clearTimeout(timer)
    if (!isEnded) return { pending: pending.record ? 'journal' : 'memory' }
    if (pending.error) throw pending.error
    return { hold: await pending.ended.promise }
  }

  /** Journals an outcome and retries it until the database takes it. */
  async keep(ctx: PaymentContext, outcome: Outcome): Promise<PendingOutcome> {
    const pending = this.addPending(ctx, outcome)
    this.running.delete(outcome.hold.ref)
    pending.record = await this.append(pending)
    // A retry may have been faster.
    if (pending.record && !this.pending.has(pending.hold.id)) await this.remove(pending.record)
    this.startRetries()
    return pending
  }

  /** Returns the waiting outcomes with such a row. */
  findPending(isRow: (row: SettlementRow) => boolean): PendingOutcome[] {
    return [...this.pending.values()].filter(({ rows }) => rows.some(isRow))
  }

  /** Retries the outcomes with such a row now. Returns whether the database has taken them all. */
  async retryWith(isRow: (row: SettlementRow) => boolean): Promise<boolean> {
    const results = await Promise.all(this.findPending(isRow).map((one) => this.retry(one)))
    return results.every(Boolean)
  }

  /** Ends the retries. The next start settles what the journal has. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.journal?.close()
  }

  private addPending(ctx: PaymentContext, outcome: Outcome): PendingOutcome {
    const pending = { ...outcome, ctx, ended: Promise.withResolvers<Hold | undefined>() }
    this.pending.set(outcome.hold.id, pending)
    return pending
  }

  private async append({ ctx, ...outcome }: PendingOutcome): Promise<JournalRecord | undefined> {
    const { ref } = outcome.hold
    try {
      const text = formatOutcome(outcome)
      const isSmall = text.length <= recordCharsMax
      const whole = isSmall ? await this.journal?.append(text) : undefined
      const record = whole ?? (await this.journal?.append(formatOutcome(outcome, true)))
      if (this.journal && !record) ctx.log.warn('ledger.journal_full', { ref })
      return record
    } catch (error) {
      ctx.log.error('ledger.not_journaled', error, { ref })
      return undefined
    }
  }

  private remove(record: JournalRecord): Promise<void> | undefined {
    // A record that stays is harmless, because its hold has ended.
    return this.journal?.remove(record).catch(() => undefined)
  }

  private startRetries(): void {
    this.retrying ??= this.retryAll().finally(() => (this.retrying = undefined))
  }

  private async retryAll(): Promise<void> {
    const { retriesMs } = this.waits
    for (let failures = 0; this.pending.size > 0;) {
      await Bun.sleep(retriesMs[Math.min(failures, retriesMs.length - 1)] ?? 0)
      if (this.isClosed) return
      failures = (await this.retryOnce()) ? 0 : failures + 1
    }
  }

  /** Retries one outcome and, if the database takes it, all others. */
  private async retryOnce(): Promise<boolean> {
    const [first, ...others] = this.pending.values()
    if (!first || (await this.retry(first))) {
      const queue = others.values()
      const work = async (): Promise<void> => {
        for (const pending of queue) await this.retry(pending)
      }
      await Promise.all(Array.from({ length: concurrentRetries }, work))
      return true
    }
    // One that never succeeds must not stop the others.
    if (this.pending.delete(first.hold.id)) this.pending.set(first.hold.id, first)
    return false
  }

  private async retry(pending: PendingOutcome): Promise<boolean> {
    const { ctx, hold, ended } = pending
    try {
      const stored = await this.commit(ctx, pending)
      // Another release of the hold may wait by now.
      if (this.pending.get(hold.id) !== pending) return true
      this.pending.delete(hold.id)
      ended.resolve(stored)
      if (pending.record) await this.remove(pending.record)
      return true
    } catch (error) {
      if (!this.pending.has(hold.id)) return true
      ctx.log.error('ledger.hold_not_ended', error, { ref: hold.ref })
      if (pending.state === 'released' || !isFinal(error)) return false
      Object.assign(pending, releaseOf(hold), { error })
      return this.retry(pending)
    }
  }

  /** A hold that has ended is returned as stored; one that was never committed is undefined. */
  private async commit(
    ctx: PaymentContext,
    { hold: named, state, charge, rows }: Outcome,
  ): Promise<Hold | undefined> {
    const hold = 'amount' in named ? named : await findHold(ctx.db.read, named)
    if (!hold) return undefined
    return (await this.groups.commit(ctx, endUnit(hold, state, charge, rows))).hold
  }
}

/** The known end of a hold: a charge with its rows, or a release. */
interface Outcome {
  /** From the journal only the name of the hold is known. */
  hold: Hold | Pick<Hold, 'ref' | 'id'>
  state: 'settled' | 'released'
  charge: NanoUsd
  rows: SettlementRow[]
}

export const releaseOf = (hold: Outcome['hold']): Outcome => ({
  hold,
  state: 'released',
  charge: zero,
  rows: [],
})

/** Returns whether no later attempt can succeed: an ApiError, or another process was first. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ApiError || databaseErrorKind(error) === 'unique'

const RecordSchema = Type.Object({
  ref: Type.String(),
  id: Type.String(),
  state: Type.Union([Type.Literal('settled'), Type.Literal('released')]),
  charge: Type.String({ pattern: '^\\d+$' }),
  rows: Type.Array(Type.Object({ kind: Type.String(), data: Type.Unknown() })),
})
type StoredRow = Static<typeof RecordSchema>['rows'][number]

/** Formats an outcome for the journal; `short` with the fallbacks of its rows. */
function formatOutcome({ hold, state, charge, rows }: Outcome, short = false): string {
  const record: Static<typeof RecordSchema> = {
    ref: hold.ref,
    id: hold.id,
    state,
    charge: String(charge),
    rows: rows.map((row) => {
      const { kind, data } = (short && row.fallback) || row
      return { kind, data }
    }),
  }
  return JSON.stringify(record)
}

/** Returns the row of stored data. Throws for data of another version of the program. */
type RowParser = (data: unknown) => SettlementRow

/** Parses an outcome of the journal. Logs what it cannot read, and leaves it out. */
function parseOutcome(
  { log }: { log: Log },
  parsers: ReadonlyMap<string, RowParser>,
  text: string,
): Outcome | undefined {
  try {
    const record: unknown = JSON.parse(text)
    if (!Value.Check(RecordSchema, record)) throw new Error('The record has another format.')
    const { ref, id, state, charge } = record
    // The charge is exact also without a row that cannot be written.
    const rows = record.rows.flatMap((row) => parseRow(row, parsers, log) ?? [])
    return { hold: { ref, id }, state, charge: nano(BigInt(charge)), rows }
  } catch (error) {
    log.error('ledger.journal_unread', error)
    return undefined
  }
}

function parseRow(
  { kind, data }: StoredRow,
  parsers: ReadonlyMap<string, RowParser>,
  log: Log,
): SettlementRow | undefined {
  try {
    const parse = parsers.get(kind)
    if (!parse) throw new Error(`There is no kind of rows "${kind}".`)
    return parse(data)
  } catch (error) {
    log.error('ledger.journal_row_unread', error, { kind })
    return undefined
  }
}
