import { toUsd } from '../../core/money.ts'
import type { Db } from '../../db/engine.ts'
import type { Answer } from '../../idempotency/idempotency.ts'
import type { Hold } from '../../ledger/holds.ts'
import type { Worked } from '../../ledger/paid-work.ts'
import type { Model } from '../../models/catalogue.ts'
import type { Bounds } from '../../models/charge.ts'
import type { ModelType } from '../../models/price.ts'
import type { Usage } from '../../models/usage.ts'
import type { Call as Sent, Path } from '../../providers/upstream.ts'
import type { Call } from '../call.ts'
import { Bill, type End, type Order, type Served } from './bill.ts'
import type { Candidate } from './candidates.ts'
import type { Preferences } from './preferences.ts'
import { reach } from './reach.ts'
import type { Verdict } from './verdict.ts'
import { deadlinesOf, Watch } from './watch.ts'

/** What an upstream made, and what it used. */
export interface Output {
  usage: Usage
  /** The answer, once it is known what it costs (USD). */
  answer(cost: number): Answer
  /** What is kept of it, in the transaction of the settlement. */
  record?: (db: Db) => Promise<unknown>
  /** Where it reaches its client while it is made: the answer is then not given again. */
  stream?: { response(cost: number): Response; ended: Promise<End> }
}

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
  read(answer: Response, serving: Serving): Promise<Output | Verdict>
  /** An answer as a response, the first time and every other; JSON when left out. */
  present?(answer: Answer): Promise<Response>
}

/** A request that may run. */
export interface MediaOrder extends Order {
  wanted: Wanted
}

/** Serves a paid request under its hold. */
export async function serve(order: MediaOrder, hold: Hold): Promise<Worked<Served>> {
  const { ctx, wanted, candidates, slot, paid, signal, mayBeSilent } = order
  const { path, body, bodyFor } = wanted
  const watch = new Watch(signal, deadlinesOf(ctx.config))
  const bill = new Bill(order, hold, ({ model }) => ({ ...wanted.own(model), estimated: true }))
  try {
    const { by, served, verdict } = await reach(ctx.upstreams, candidates, {
      path,
      body,
      watch,
      through: bodyFor && ((send, by) => send(bodyFor(by))),
      open: (response, by) =>
        wanted.read(response, { by, watch, isKept: slot !== undefined, paid, mayBeSilent }),
    })
    if (verdict) return bill.failed(by, verdict)
    bill.began()
    const { usage, stream, record } = served
    const cost = toUsd(bill.chargeOf(by, usage))
    if (!stream) return bill.answered(by, usage, 'completed', served.answer(cost), record)
    order.begin(stream.response(cost))
    return bill.answered(by, usage, await stream.ended)
  } finally {
    watch.end()
  }
}
