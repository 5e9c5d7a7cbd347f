import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { SerialQueue } from '../../kernel/fair-queue.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { minute } from '../../kernel/time.ts'
import { type Hold, type HoldRequest, settleOnExpiry } from '../../money/ledger/holds.ts'
import { type PaidOutcome, pay } from '../../money/pay.ts'
import type { Spender } from '../authentication.ts'
import { realtimeResponsesMax, realtimeSessionMs } from '../limits.ts'
import type { UsageBounds } from '../models/charge.ts'
import { createUsage, readUsage, type Usage, type UsageLimits } from '../models/usage.ts'
import { type Candidate, maxCostOf } from '../paid/candidates.ts'
import { holdRequestOf, type PaidCall } from '../paid/paid-call.ts'
import { type CallEnd, OutcomeBuilder } from '../paid/serve-call.ts'
import { free } from '../paid/upstream-failure.ts'
import type { Attempt } from '../providers/measurements.ts'

/** Time after the longest session for its last settlements. */
const marginMs = 5 * minute
const settledIdsMax = 1_000

/** One kind of billed work of a session: its responses, or the transcriptions of its input. */
export interface MeteredWork {
  /** The call of the session. Its first candidate has the price. */
  paid: PaidCall
  kind: 'realtime' | 'transcription'
  bounds: UsageBounds
  limits: UsageLimits
  /** Checks and counts a call of the key, for each hold after the first. Throws its errors. */
  admit(): Promise<Spender>
}

/** A hold for work that begins and ends later. */
interface OpenWork {
  hold: Hold
  /** The end of the work. A rejection releases the hold. */
  ended: PromiseWithResolvers<PaidOutcome<NanoUsd>>
  /** The charge, when it is committed. */
  paid: Promise<NanoUsd>
}

interface RunningWork extends OpenWork {
  attempt: Attempt
  outcome: OutcomeBuilder
}

/** The end of one piece of work, as the upstream reports it. */
export interface WorkReport {
  /** In OpenAI's format; missing where the upstream reports none. */
  usage: unknown
  end: CallEnd
  /** The own count, where the upstream reports no usage. */
  estimate: Usage
}

/**
 * Holds and settles the work of a session, each piece with a hold of its own. The next hold is open
 * before its work can begin, so that nothing runs that the account cannot pay. It costs nothing
 * when its process dies; from the beginning of the work it is charged in full then.
 */
export class Meter {
  private next: OpenWork | undefined
  private nextSpender: Spender
  private holds = 0
  private readonly queue = new SerialQueue()
  private readonly running = new Map<string, RunningWork>()
  /** Newest ids of settled work: a repeated report is charged once. */
  private readonly settled = new Set<string>()
  private isClosed = false

  constructor(private readonly work: MeteredWork) {
    this.nextSpender = work.paid.spender
  }

  get candidate(): Candidate {
    return this.work.paid.candidates[0]
  }

  get runningIds(): string[] {
    return [...this.running.keys()]
  }

  /** Opens the next hold unless it is open. Throws the errors of the key and of holds. */
  async ensure(): Promise<void> {
    await this.queue.run(() => this.ensureNow())
  }

  /** Begins a piece of work with the next hold. Throws as `ensure` does, and `holds_limit`. */
  begin(id: string): Promise<void> {
    return this.queue.run(() => this.beginNow(id))
  }

  /** Settles a piece of work and returns its charge. Work without a beginning begins first. */
  settle(id: string, report: WorkReport): Promise<NanoUsd> {
    return this.queue.run(async () => {
      if (this.settled.has(id)) return zero
      await this.beginNow(id)
      return this.settleNow(id, report)
    })
  }

  /** Settles what still runs, by its estimate, and releases the next hold. */
  close(estimate: () => Usage): Promise<void> {
    return this.queue.run(async () => {
      this.isClosed = true
      const { ctx } = this.work.paid
      const { next } = this
      this.next = undefined
      if (next) await release(next)
      for (const id of this.runningIds) {
        const report = { usage: undefined, end: 'interrupted', estimate: estimate() } as const
        await this.settleNow(id, report).catch((error: unknown) =>
          ctx.log.error('realtime.not_settled', error, { id }),
        )
      }
    })
  }

  private async ensureNow(): Promise<OpenWork | undefined> {
    if (this.next || this.isClosed) return this.next
    const { paid, kind, bounds, admit } = this.work
    if (this.holds > 0) this.nextSpender = await admit()
    this.holds += 1
    const call = { ...paid, spender: this.nextSpender }
    const request = holdRequestOf(
      call,
      maxCostOf([this.candidate], () => bounds),
      kind,
      String(this.holds),
    )
    const ms = realtimeSessionMs + marginMs
    this.next = await open(paid.ctx, { ...request, onExpiry: 'release', ms })
    return this.next
  }

  private async beginNow(id: string): Promise<void> {
    if (this.running.has(id) || this.settled.has(id) || this.isClosed) return
    if (this.running.size >= realtimeResponsesMax) {
      throw new ApiError('holds_limit', { max: realtimeResponsesMax, retryAfter: 1 })
    }
    const work = await this.ensureNow()
    if (!work) return
    this.next = undefined
    const { paid } = this.work
    const { ctx } = paid
    const call = { ...paid, spender: this.nextSpender }
    const attempt = ctx.upstreams.measurements.begin(this.candidate.offer)
    const outcome = new OutcomeBuilder(call, work.hold, () => createUsage({}))
    this.running.set(id, { ...work, attempt, outcome })
    await ctx.db.tx((db) => settleOnExpiry(db, work.hold))
  }

  private async settleNow(id: string, { usage, end, estimate }: WorkReport): Promise<NanoUsd> {
    const work = this.running.get(id)
    if (!work) return zero
    this.running.delete(id)
    const [oldest] = this.settled.add(id)
    if (this.settled.size > settledIdsMax && oldest !== undefined) this.settled.delete(oldest)
    const by = { candidate: this.candidate, attempt: work.attempt }
    const counted = readUsage(usage, this.work.limits)
    const { charge, rows } =
      end === 'failed' && !counted
        ? work.outcome.broken(by, free(new ApiError('upstream_failed', {}), false))
        : work.outcome.served(by, { usage: counted ?? { ...estimate, estimated: true }, end })
    work.ended.resolve({ result: charge, charge, rows })
    return work.paid
  }
}

/** Opens a hold, whose work ends with `ended`. Throws what holds throw. */
async function open(ctx: AppContext, maxCost: HoldRequest): Promise<OpenWork> {
  const opened = Promise.withResolvers<Hold>()
  const ended = Promise.withResolvers<PaidOutcome<NanoUsd>>()
  const paid = pay<NanoUsd>(ctx, {
    who: { owner: maxCost.account },
    prepare: async () => ({
      maxCost,
      run: ({ hold }) => {
        opened.resolve(hold)
        return ended.promise
      },
    }),
  })
  paid.catch(opened.reject)
  return { hold: await opened.promise, ended, paid }
}

/** Releases a hold whose work never began. */
async function release({ ended, paid }: OpenWork): Promise<void> {
  const unused = new Error('The work of this hold never began.')
  ended.reject(unused)
  await paid.catch((error: unknown) => {
    if (error !== unused) throw error
  })
}
