import { type Nano, toUsd, zero } from '../core/money.ts'
import { stopwatch } from '../core/time.ts'
import type { Db } from '../db/engine.ts'
import type { House } from '../house.ts'
import type { Answer, KeepAnswer } from '../idempotency/idempotency.ts'
import type { Hold } from '../ledger/holds.ts'
import type { Worked } from '../ledger/paid-work.ts'
import type { Model } from '../models/catalogue.ts'
import { type Bounds, chargeWithin } from '../models/charge.ts'
import { insertUse } from '../models/history.ts'
import type { ModelType } from '../models/price.ts'
import { type Usage, usageOf } from '../models/usage.ts'
import type { GatewayRefusal, Refusal } from '../refusals.ts'
import type { Call as Sent, Path } from '../upstream/upstream.ts'
import type { Call } from './call.ts'
import type { Candidate } from './chat/candidates.ts'
import type { Preferences } from './chat/preferences.ts'
import { reach } from './chat/reach.ts'
import type { Verdict } from './chat/verdict.ts'
import { deadlinesOf, Watch } from './chat/watch.ts'
import { wordsOf } from './envelope.ts'
import type { Spender } from './key.ts'

/** What an upstream made, and what it used. */
export interface Made {
  usage: Usage
  /** The answer, once it is known what it costs (USD). */
  answer(cost: number): Answer
  /** What is kept of it, in the transaction of the settlement. */
  record?: (db: Db) => Promise<unknown>
  /** Where it reaches its client while it is made: the answer is then not given again. */
  stream?: { response(cost: number): Response; ended: Promise<End> }
}

/** How a stream ended. */
export type End = 'completed' | 'interrupted' | 'failed'

/** Who is asked, and what breaks the work off. */
export interface Serving {
  by: Candidate
  watch: Watch
  /** Whether the answer will be given again to the same Idempotency-Key. */
  isKept: boolean
  /** Settles once the work is paid: until then a stream is not closed. */
  paid: Promise<unknown>
  mayBeSilent?: Call['mayBeSilent']
}

/** A request for a paid answer other than chat's, its shape checked. */
export interface Wanted {
  path: Path
  type: ModelType
  /** What the ledger and the history call the work. */
  kind: 'embedding' | 'image' | 'speech' | 'transcription'
  modelIds: string[]
  /** Which part of its request it is for, where there are several. */
  part?: string | undefined
  preferences: Preferences
  /** What goes to the upstream. */
  body: Sent['body']
  /** The same for one that cannot be asked for all of it. */
  bodyFor?(by: Candidate): Sent['body']
  /** What makes it the same request again. */
  same: unknown
  /** Refuses a model of the right type that cannot do this. */
  check?(model: Model): void
  /** The most it can use at a model. */
  most(model: Model): Bounds
  /** Our own count of what it uses at a model: charged where the client left before the answer. */
  own(model: Model): Usage
  /** Reads an answer that is a success, bounded, and judges it. */
  read(answer: Response, serving: Serving): Promise<Made | Verdict>
  /** An answer as a response, the first time and every other; JSON when left out. */
  present?(answer: Answer): Promise<Response>
}

/** A request that may run, with where it can be served. */
export interface Order {
  house: House
  spender: Spender
  wanted: Wanted
  candidates: [Candidate, ...Candidate[]]
  requestId: string
  signal: AbortSignal
  keep: KeepAnswer
  /** Where the answer is kept for the same Idempotency-Key. */
  slot: string | undefined
  mayBeSilent?: Call['mayBeSilent']
  paid: Promise<unknown>
  begin(response: Response): void
}

type Served =
  { answer: Answer; refusal?: undefined } | { answer?: undefined; refusal: Refusal<GatewayRefusal> }

/** Serves a paid request under its hold. */
export async function serve(order: Order, hold: Hold): Promise<Worked<Served>> {
  const { house, wanted, candidates, slot, paid, signal, mayBeSilent } = order
  const { path, body, bodyFor } = wanted
  const watch = new Watch(signal, deadlinesOf(house.config))
  const account = new Timed(order, hold)
  try {
    const { by, served, verdict } = await reach(house.upstreams, candidates, {
      ...{ path, body, watch },
      through: bodyFor && ((send, by) => send(bodyFor(by))),
      open: (response, by) =>
        wanted.read(response, { by, watch, isKept: slot !== undefined, paid, mayBeSilent }),
    })
    if (verdict) return account.failed(by, verdict)
    account.began()
    const { usage, stream, record } = served
    const charge = chargeWithin(hold, by.price, usage)
    const cost = toUsd(charge)
    if (stream) {
      order.begin(stream.response(cost))
      const end = await stream.ended
      return account.worked({ by, usage, end, charge }, { answer: { status: 200, body: null } })
    }
    const answer = served.answer(cost)
    return account.worked({ by, usage, end: 'completed', charge }, { answer }, async (db) => {
      await record?.(db)
      await order.keep(db, answer)
    })
  } finally {
    watch.end()
  }
}

/** What the history is told of a request. */
interface Note {
  by: Candidate
  usage: Usage
  end: End
  charge: Nano
}

/** Times one request and makes its row of the history. */
class Timed {
  private readonly started = stopwatch()
  private firstByteMs: number | null = null

  constructor(
    private readonly order: Order,
    private readonly hold: Hold,
  ) {}

  began(): void {
    this.firstByteMs = Math.round(stopwatch() - this.started)
  }

  /** A request that failed, for nothing, for the hold, or for what was asked of it. */
  failed(by: Candidate, { refusal, charges }: Verdict): Worked<Served> {
    const result = { refusal }
    if (charges === 'nothing') {
      return this.worked({ by, usage: usageOf({}), end: 'failed', charge: zero }, result)
    }
    const usage = { ...this.order.wanted.own(by.model), estimated: true }
    if (charges === 'carried') {
      const charge = chargeWithin(this.hold, by.price, usage)
      return this.worked({ by, usage, end: 'interrupted', charge }, result)
    }
    const { status, body } = wordsOf(refusal)
    const note: Note = { by, usage, end: 'failed', charge: this.hold.amount }
    return this.worked(note, result, (db) => this.order.keep(db, { status, body }))
  }

  worked(note: Note, result: Served, record?: (db: Db) => Promise<unknown>): Worked<Served> {
    const { charge } = note
    const use = this.use(note)
    return {
      result,
      charge,
      record: async (db, { charged, amount }) => {
        await insertUse(db, { ...use, charged, held: amount })
        await record?.(db)
      },
    }
  }

  /** The counts of a row are tokens, or the units that the work is paid by. */
  private use({ by: { model, offer, price }, usage, end }: Note) {
    const { spender, requestId, house } = this.order
    return {
      account: spender.account,
      requestId,
      at: house.clock.now(),
      model: model.id,
      type: model.type,
      source: spender.source,
      status: end,
      upstream: offer.upstream,
      price: price.id,
      input: usage.prompt || usage.characters || Math.ceil(usage.seconds),
      cached: usage.cached,
      output: usage.completion || usage.images,
      reasoning: usage.reasoning,
      searches: usage.searches,
      estimated: usage.estimated,
      ms: Math.round(stopwatch() - this.started),
      firstByteMs: this.firstByteMs,
    }
  }
}
