import { type Json, recordOf } from '../../../kernel/schema.ts'
import type { SendUpstream } from '../../paid/call-upstream.ts'
import type { CallDeadlines } from '../../paid/deadlines.ts'
import { parseRecord } from '../../providers/response.ts'
import { UpstreamError } from '../../providers/upstream.ts'
import { presentUsage } from '../client-events.ts'
import { UpstreamEvents } from '../upstream-events.ts'
import { Round } from './round.ts'
import type { SearchSession } from './search-session.ts'

/**
 * Serves a chat that may search as one stream: the text of each round as it arrives, without the
 * search calls, and at its end the citations and the usage of all rounds.
 */
export async function searchAndStream(
  session: SearchSession,
  send: SendUpstream,
  deadlines: CallDeadlines,
): Promise<Response> {
  const first = await send(session.body, session.outputTokensLeft)
  if (!first.ok) return first
  const encoder = new TextEncoder()
  const events = streamRounds(session, first, send, deadlines)
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

/** Yields the data of each event. Throws where the upstream cuts the stream. */
async function* streamRounds(
  session: SearchSession,
  first: Response,
  send: SendUpstream,
  deadlines: CallDeadlines,
): AsyncGenerator<string, void> {
  let response = first
  let head: Json | undefined
  let text = ''
  for (;;) {
    const round = new Round(head, text)
    const events = await UpstreamEvents.open(response, deadlines)
    let isWhole = false
    try {
      isWhole = yield* streamRound(events, round, session)
    } finally {
      void events.close(isWhole)
    }
    if (!isWhole && events.isEmpty) return
    if (!isWhole) throw new Error('The upstream cut the stream.')
    ;({ head, allText: text } = round)
    const { calls } = round
    const clientCalls = session.clientCallsOf(calls)
    if (clientCalls) {
      const usage = session.hasReportedUsage ? presentUsage(session.usage(true)) : undefined
      yield* round.finish(clientCalls, session.citations(text), usage)
      return
    }
    await session.search(round.text, calls, deadlines.signal)
    const next = await sendNextRound(session, send, deadlines)
    if (!(next instanceof Response)) return yield JSON.stringify(next)
    response = next
  }
}

/** Yields the events of a round for the client. Returns whether the round reached its [DONE]. */
async function* streamRound(
  source: UpstreamEvents,
  round: Round,
  session: SearchSession,
): AsyncGenerator<string, boolean> {
  for (let events = await source.next(); events; events = await source.next()) {
    for (const { data } of events) {
      if (data === undefined) continue
      if (data.trim() === '[DONE]') return true
      const chunk = parseRecord(data)
      // The reader of this stream ends it at data that is not a chunk.
      if (!chunk || chunk.error) {
        yield data
        return false
      }
      session.read(chunk)
      const forwarded = round.forward(chunk)
      if (forwarded) yield JSON.stringify(forwarded)
    }
  }
  return false
}

/** Sends the next round. A failure becomes an error event with its status. */
async function sendNextRound(
  session: SearchSession,
  send: SendUpstream,
  deadlines: CallDeadlines,
): Promise<Response | Json> {
  try {
    const response = await send(session.body, session.outputTokensLeft)
    if (response.ok) return response
    const error = parseRecord(await response.text())?.error
    return { error: { ...recordOf(error), status: response.status } }
  } catch (error) {
    const isUpstreams = error instanceof UpstreamError && error.kind !== 'unreadable'
    if (deadlines.cause || !isUpstreams) throw error
    return { error: { status: 502 } }
  }
}
