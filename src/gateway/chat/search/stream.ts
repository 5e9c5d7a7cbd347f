import { recordOf } from '../../../core/schema.ts'
import { recordIn } from '../../../providers/answer.ts'
import { UpstreamFault } from '../../../providers/upstream.ts'
import type { Send } from '../../paid/reach.ts'
import type { Watch } from '../../paid/watch.ts'
import { Source } from '../source.ts'
import { presentUsage } from '../told.ts'
import { Round } from './round.ts'
import type { Searching } from './searching.ts'

type Json = Record<string, unknown>

/**
 * Serves a request that may search as one stream: what each round says as it comes, its searches
 * left out, and in the end the pages that the answer stands on and all its usage.
 */
export async function searchStream(
  searching: Searching,
  send: Send,
  watch: Watch,
): Promise<Response> {
  const first = await send(searching.body, searching.left)
  if (!first.ok) return first
  const encoder = new TextEncoder()
  const events = eventsOf(searching, first, send, watch)
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(out) {
        const { done, value } = await events.next()
        if (done) out.close()
        else out.enqueue(encoder.encode(`data: ${value}\n\n`))
      },
      cancel: () => void events.return(),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: first.headers })
}

/** The data of each event. Throws where the stream is cut. */
async function* eventsOf(
  searching: Searching,
  first: Response,
  send: Send,
  watch: Watch,
): AsyncGenerator<string, void> {
  let response = first
  let head: Json | undefined
  let text = ''
  for (;;) {
    const round = new Round(head, text)
    const source = await Source.open(response, watch)
    let isWhole = false
    try {
      isWhole = yield* passed(source, round, searching)
    } finally {
      void source.close(isWhole)
    }
    if (!isWhole && source.isEmpty) return
    if (!isWhole) throw new Error('the upstream broke off')
    ;({ head, text } = round)
    const { calls } = round
    const theirs = searching.theirs(calls)
    if (theirs) {
      const usage = searching.isTold ? presentUsage(searching.usage(true)) : undefined
      yield* round.ending(theirs, searching.citations(text), usage)
      return
    }
    await searching.next(round.said, calls, watch.signal)
    const next = await sendOn(searching, send, watch)
    if (!(next instanceof Response)) return yield JSON.stringify(next)
    response = next
  }
}

/** What of a round's events goes on; answers whether it came to its [DONE]. */
async function* passed(
  source: Source,
  round: Round,
  searching: Searching,
): AsyncGenerator<string, boolean> {
  for (let events = await source.next(); events; events = await source.next()) {
    for (const { data } of events) {
      if (data === undefined) continue
      if (data.trim() === '[DONE]') return true
      const chunk = recordIn(data)
      // What is no chunk ends the stream where it is read next.
      if (!chunk || chunk.error) yield data
      if (!chunk || chunk.error) return false
      searching.read(chunk)
      const on = round.pass(chunk)
      if (on) yield JSON.stringify(on)
    }
  }
  return false
}

/** The next round's answer; a failure becomes the event that says so, with its status. */
async function sendOn(searching: Searching, send: Send, watch: Watch): Promise<Response | Json> {
  try {
    const response = await send(searching.body, searching.left)
    if (response.ok) return response
    const said = recordIn(await response.text())?.error
    return { error: { ...recordOf(said), status: response.status } }
  } catch (fault) {
    const isTheirs = fault instanceof UpstreamFault && fault.kind !== 'unreadable'
    if (watch.cause || !isTheirs) throw fault
    return { error: { status: 502 } }
  }
}
