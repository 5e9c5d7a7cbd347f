import { nano } from '../../core/money.ts'
import type { Answer } from '../../idempotency/idempotency.ts'
import type { Hold } from '../../ledger/holds.ts'
import type { Worked } from '../../ledger/paid-work.ts'
import { upstreamAnswerBytesMax } from '../../limits.ts'
import type { Usage } from '../../models/usage.ts'
import { recordIn } from '../../providers/answer.ts'
import type { Served } from '../paid/bill.ts'
import { reach } from '../paid/reach.ts'
import {
  brokenOff,
  filtered,
  noContent,
  unreadable,
  type Verdict,
  verdictOfError,
} from '../paid/verdict.ts'
import { deadlinesOf, Watch } from '../paid/watch.ts'
import { type Bounds, Carried } from './carried.ts'
import { billOf, boundsOf, type ChatOrder, sendingOf } from './order.ts'
import { Relay } from './relay.ts'
import { throughSearch } from './search/through.ts'
import { Source } from './source.ts'

/** A stream to a client, or one that is given again. */
export const streamResponse = (body: ReadableStream<Uint8Array> | string): Response =>
  new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    },
  })

/**
 * Serves a request as a stream: its client is given it as soon as the first event is there; the
 * work goes on until it ends, and is charged for what it carried. Under an Idempotency-Key it is
 * read to its end though its client leaves: the client that comes again finds the answer.
 */
export async function serveStream(order: ChatOrder, hold: Hold): Promise<Worked<Served>> {
  const { asked, begin, candidates, heard, ctx, paid, signal, slot } = order
  const watch = new Watch(signal, deadlinesOf(ctx.config))
  const bill = billOf(order, hold)
  const { by, served, verdict } = await reach(ctx.upstreams, candidates, {
    ...sendingOf(order),
    watch,
    through: throughSearch(order, watch),
    open: (answer, candidate) => openStream(answer, boundsOf(order, candidate), watch),
  }).catch((error: unknown) => {
    watch.end()
    throw error
  })
  if (verdict && verdict !== unreadable) {
    watch.end()
    return bill.failed(by, verdict)
  }
  bill.began()
  const carried = new Carried(boundsOf(order, by))
  const copy = slot === undefined ? undefined : new Copy()
  const costOf = (usage: Usage) => nano(bill.chargeOf(by, usage) + heard)
  // What cannot be read from its first byte on is a stream that broke off with nothing carried.
  const source = served ?? (await Source.open(new Response(null), watch))
  const terms = { costOf: asked.wantsUsage ? costOf : undefined, paid, copy }
  const relay = new Relay(source, carried, watch, terms)
  begin(streamResponse(copy ? copy.readBeside(relay.body()) : relay.body()))
  const end = await relay.ended
  if (end === 'empty') return bill.failed(by, noContent)
  const isWhole = end === 'done'
  const status = isWhole ? 'completed' : end === 'client' ? 'interrupted' : 'failed'
  // What was charged is given again, also where it broke off.
  return bill.answered(by, carried.usage(isWhole), status, copy?.answer)
}

/** Opens a stream, unless it ends or fails before its first event. */
async function openStream(
  answer: Response,
  bounds: Bounds,
  watch: Watch,
): Promise<Source | Verdict> {
  const source = await Source.open(answer, watch)
  const verdict = watch.cause ? brokenOff(watch) : verdictOfFirst(source, bounds)
  if (verdict) void source.close(false)
  return verdict ?? source
}

function verdictOfFirst({ first, isEmpty }: Source, bounds: Bounds): Verdict | undefined {
  if (first === undefined) return isEmpty ? noContent : undefined
  if (first.trim() === '[DONE]') return noContent
  const chunk = recordIn(first)
  if (!chunk) return undefined
  if (chunk.error) return verdictOfError(chunk.error)
  const carried = new Carried(bounds)
  carried.read(chunk)
  return carried.isFiltered ? filtered : undefined
}

/** The bytes of a stream, to be given again, unless they are too many. */
class Copy {
  private readonly parts: Uint8Array[] = []
  private bytes = 0

  add(part: Uint8Array): void {
    this.bytes += part.byteLength
    if (!this.isFull) this.parts.push(part)
  }

  /** The stream for its client, which is read on here though that leaves, until this is full. */
  readBeside(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const [theirs, ours] = stream.tee()
    void this.readOn(ours)
    return theirs
  }

  private async readOn(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const _ of stream) if (this.isFull) return
  }

  private get isFull(): boolean {
    return this.bytes > upstreamAnswerBytesMax
  }

  get answer(): Answer | undefined {
    if (this.isFull) return undefined
    return { status: 200, body: { stream: new TextDecoder().decode(Buffer.concat(this.parts)) } }
  }
}
