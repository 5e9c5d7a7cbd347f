import { type Nano, nano, zero } from '../../core/money.ts'
import { stopwatch } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import type { House } from '../../house.ts'
import type { Answer, KeepAnswer } from '../../idempotency/idempotency.ts'
import type { Hold } from '../../ledger/holds.ts'
import type { Worked } from '../../ledger/paid-work.ts'
import { chargeWithin } from '../../models/charge.ts'
import { insertUse } from '../../models/history.ts'
import { promptTokensOf } from '../../models/tokens.ts'
import { type Usage, usageOf } from '../../models/usage.ts'
import type { GatewayRefusal, Refusal } from '../../refusals.ts'
import { wordsOf } from '../envelope.ts'
import type { Spender } from '../key.ts'
import type { Fitted } from './asked.ts'
import type { Candidate } from './candidates.ts'
import { type Bounds, Carried } from './carried.ts'
import type { Searching } from './search/searching.ts'
import type { Verdict } from './verdict.ts'
import { limitsOf, outputToTell } from './worst.ts'

/** A chat request that may run: read, fitted to its models, with where it can be served. */
export interface Order {
  house: House
  spender: Spender
  asked: Fitted
  /** What was paid for the sounds that were heard for it. */
  heard: Nano
  candidates: [Candidate, ...Candidate[]]
  requestId: string
  /** Aborts when the client leaves, as a call's does. */
  signal: AbortSignal
  keep: KeepAnswer
  /** Where the answer is kept for the same Idempotency-Key. */
  slot: string | undefined
  /** The rounds of a request that searches the web, with who serves it now. */
  searching: Searching | undefined
}

/** What paid work comes to: an answer, or a failure that the client is told. */
export type Served =
  { answer: Answer; refusal?: undefined } | { answer?: undefined; refusal: Refusal<GatewayRefusal> }

/** What the history is told of a request. */
interface Note {
  by: Candidate
  usage: Usage
  status: 'completed' | 'interrupted' | 'failed'
  firstByteMs: number | null
}

/** What a request may use at the model that serves it. */
export const boundsOf = ({ asked, searching }: Order, { model }: Candidate): Bounds => ({
  limits: limitsOf(asked, model),
  choices: asked.choices,
  searching,
  countPrompt: () => promptTokensOf(asked.body, model.pictureTokens),
})

/** What goes to the upstream of a chat request, beside how its answer is read. */
export const sendingOf = ({ asked }: Order) => ({
  path: '/chat/completions' as const,
  body: asked.body,
  outputMost: ({ model }: Candidate) => outputToTell(asked, model),
})

/** Times one request, for its history and for the speed of its upstream. */
export class Ledgered {
  private readonly started = stopwatch()
  private firstByteMs: number | null = null

  constructor(
    private readonly order: Order,
    private readonly hold: Hold,
  ) {}

  began(): void {
    this.firstByteMs = Math.round(stopwatch() - this.started)
  }

  /** A request that was answered, whole or in part, for what it used. */
  answered(by: Candidate, usage: Usage, end: Note['status'], answer?: Answer): Worked<void> {
    const charge = this.chargeOf(by, usage)
    const ms = stopwatch() - this.started
    this.order.house.upstreams.speeds.record(
      by.offer.upstream,
      by.offer.model,
      usage.completion,
      ms,
    )
    return this.worked({ by, usage, status: end }, charge, answer)
  }

  /** What the client is told that it cost: also what was paid to hear its sounds. */
  costOf(by: Candidate, usage: Usage): Nano {
    return nano(this.chargeOf(by, usage) + this.order.heard)
  }

  /** Within the hold, whatever the upstream says that was used. */
  private chargeOf({ price }: Candidate, usage: Usage): Nano {
    return chargeWithin(this.hold, price, usage)
  }

  /** A request that failed, for nothing, for the hold, or for its prompt. */
  failed(by: Candidate, { refusal, charges }: Verdict): Worked<void> {
    const note = { by, status: charges === 'carried' ? 'interrupted' : 'failed' } as const
    if (charges === 'nothing') return this.worked({ ...note, usage: usageOf({}) }, zero)
    const usage = new Carried(boundsOf(this.order, by)).usage(false)
    if (charges === 'carried') return this.worked({ ...note, usage }, this.chargeOf(by, usage))
    const { status, body } = wordsOf(refusal)
    return this.worked({ ...note, usage }, this.hold.amount, { status, body })
  }

  private worked(note: Omit<Note, 'firstByteMs'>, charge: Nano, answer?: Answer): Worked<void> {
    const ms = Math.round(stopwatch() - this.started)
    const { keep } = this.order
    const use = this.use({ ...note, firstByteMs: this.firstByteMs }, ms)
    return {
      result: undefined,
      charge,
      record: async (db: Db, { charged, amount }: Hold) => {
        await insertUse(db, { ...use, charged, held: amount })
        if (answer) await keep(db, answer)
      },
    }
  }

  private use({ by: { model, offer, price }, usage, status, firstByteMs }: Note, ms: number) {
    const { spender, requestId, house } = this.order
    return {
      account: spender.account,
      requestId,
      at: house.clock.now(),
      model: model.id,
      type: model.type,
      source: spender.source,
      status,
      upstream: offer.upstream,
      price: price.id,
      input: usage.prompt,
      cached: usage.cached,
      output: usage.completion,
      reasoning: usage.reasoning,
      searches: usage.searches,
      estimated: usage.estimated,
      ms,
      firstByteMs,
    }
  }
}
