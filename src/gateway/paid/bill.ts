import type { AppContext } from '../../context.ts'
import { type NanoUsd, zero } from '../../core/money.ts'
import { stopwatch } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import type { ApiError, GatewayErrorName } from '../../errors.ts'
import type { Answer } from '../../idempotency/idempotency.ts'
import type { Hold } from '../../ledger/holds.ts'
import type { Ask } from '../../ledger/ledger.ts'
import type { Worked } from '../../ledger/paid-work.ts'
import { chargeWithin } from '../../models/charge.ts'
import { countsOf, insertUse } from '../../models/history.ts'
import { type Price, storedPrice } from '../../models/price.ts'
import { type Usage, usageOf } from '../../models/usage.ts'
import { wordsOf } from '../envelope.ts'
import type { Spender } from '../key.ts'
import { holdMs, holdRef } from '../usage/expired.ts'
import type { Candidate, Candidates } from './candidates.ts'
import type { Running } from './once.ts'
import type { Verdict } from './verdict.ts'

/** A paid request that may run, with where it can be served. */
export interface Order extends Running {
  ctx: AppContext
  spender: Spender
  candidates: Candidates
  /** Settles once the work is paid: until then a stream is not closed. */
  paid: Promise<unknown>
}

/** What paid work comes to: an answer, or a failure that the client is told. */
export type Served =
  | { answer: Answer; refusal?: undefined }
  | { answer?: undefined; refusal: ApiError<GatewayErrorName> }

/** How a paid request ended. */
export type End = 'completed' | 'interrupted' | 'failed'

/** What is held for a request: its worst case, charged whole where its process dies over it. */
export function askFor(
  order: Pick<Order, 'ctx' | 'spender' | 'candidates' | 'requestId' | 'slot'>,
  worst: { amount: NanoUsd; price: Price },
  kind: string,
  part?: string,
): Ask {
  const { ctx, spender, candidates, requestId, slot } = order
  const { account, cap, funds } = spender
  return {
    account,
    amount: worst.amount,
    ref: holdRef([kind, requestId, ...(part ? [part] : [])], slot),
    kind,
    item: candidates[0].model.id,
    funds,
    price: storedPrice(worst.price),
    cap,
    onExpiry: 'settle',
    ms: holdMs(ctx),
  }
}

/** What the history is told of a request. */
interface Note {
  by: Candidate
  usage: Usage
  end: End
  charge: NanoUsd
}

/** Times one request, and makes its charge and its row of the history. */
export class Bill {
  private readonly started = stopwatch()
  private firstByteMs: number | null = null

  /** `own`: our own count of what a request used that failed, and is charged. */
  constructor(
    private readonly order: Order,
    private readonly hold: Hold,
    private readonly own: (by: Candidate) => Usage,
  ) {}

  began(): void {
    this.firstByteMs = Math.round(stopwatch() - this.started)
  }

  /** Within the hold, whatever the upstream says that was used. */
  chargeOf({ price }: Candidate, usage: Usage): NanoUsd {
    return chargeWithin(this.hold, price, usage)
  }

  /**
   * A request that was answered, whole or in part, for what it used. A stream has no `answer` left
   * to give, unless it was copied.
   */
  answered(
    by: Candidate,
    usage: Usage,
    end: End,
    answer?: Answer,
    record?: (db: Db) => Promise<unknown>,
  ): Worked<Served> {
    const { offer, model } = by
    const ms = stopwatch() - this.started
    const { speeds } = this.order.ctx.upstreams
    if (model.type === 'chat') speeds.record(offer.upstream, offer.model, usage.completion, ms)
    const note = { by, usage, end, charge: this.chargeOf(by, usage) }
    return this.worked({ answer: answer ?? { status: 200, body: null } }, note, answer, record)
  }

  /** A request that failed, for nothing, for the hold, or for what was asked of it. */
  failed(by: Candidate, { refusal, charges }: Verdict): Worked<Served> {
    const result = { refusal }
    if (charges === 'nothing') {
      return this.worked(result, { by, usage: usageOf({}), end: 'failed', charge: zero })
    }
    const usage = this.own(by)
    if (charges === 'carried') {
      return this.worked(result, {
        by,
        usage,
        end: 'interrupted',
        charge: this.chargeOf(by, usage),
      })
    }
    const { status, body } = wordsOf(refusal)
    const note: Note = { by, usage, end: 'failed', charge: this.hold.amount }
    return this.worked(result, note, { status, body })
  }

  private worked(
    result: Served,
    note: Note,
    kept?: Answer,
    more?: (db: Db) => Promise<unknown>,
  ): Worked<Served> {
    const use = this.use(note)
    const { keep } = this.order
    return {
      result,
      charge: note.charge,
      record: async (db, { charged, amount }) => {
        await insertUse(db, { ...use, charged, held: amount })
        await more?.(db)
        if (kept) await keep(db, kept)
      },
    }
  }

  private use({ by: { model, offer, price }, usage, end }: Note) {
    const { spender, requestId, ctx } = this.order
    return {
      account: spender.account,
      requestId,
      at: ctx.clock.now(),
      model: model.id,
      type: model.type,
      source: spender.source,
      status: end,
      upstream: offer.upstream,
      price: price.id,
      ...countsOf(usage),
      ms: Math.round(stopwatch() - this.started),
      firstByteMs: this.firstByteMs,
    }
  }
}
