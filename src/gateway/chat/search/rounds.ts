import { isApiError } from '../../../kernel/errors.ts'
import { upstreamResponseBytesMax } from '../../../kernel/limits.ts'
import type { Json } from '../../../kernel/schema.ts'
import type { CallEvent, ChatEvent } from '../../conversation/chat-event.ts'
import type { CallPart } from '../../conversation/chat-request.ts'
import type { CallDeadlines } from '../../paid/deadlines.ts'
import {
  failureOfError,
  failureOfRejection,
  interruptionOf,
  isFailure,
  noContent,
  type UpstreamFailure,
} from '../../paid/upstream-failure.ts'
import type { MonitoredUpstream } from '../../providers/monitored-upstream.ts'
import { type ChatAttempt, limitsAt, sendChat } from '../chat-call.ts'
import { readWhole } from '../read-whole.ts'
import { type ChatSource, sourceOf, StepSource } from '../source.ts'
import { SearchSession } from './search-session.ts'

/** The search of one attempt. */
export interface Search {
  session: SearchSession
  /** The failure that ended the rounds; set before they end. */
  failure: UpstreamFailure | undefined
  /**
   * Returns the steps of the response: the text of each round as it arrives, without the search
   * calls, and at the end the citations. Throws UpstreamError where the first round gets none.
   */
  rounds(upstream: MonitoredUpstream, deadlines: CallDeadlines): AsyncGenerator<ChatEvent[]>
}

/**
 * Opens the search of an attempt; undefined for a chat without one. Each attempt starts over: the
 * searches of a failed one are not charged.
 */
export function openSearch(by: ChatAttempt): Search | undefined {
  const { chat, candidate } = by
  const { searcher } = chat.ctx
  if (!chat.size.search || !searcher) return undefined
  const { model } = candidate
  const session = new SearchSession(
    searcher,
    chat.request,
    limitsAt(chat, model),
    model.imageTokens,
  )
  const search: Search = {
    session,
    failure: undefined,
    rounds: (upstream, deadlines) => runRounds(by, search, upstream, deadlines),
  }
  return search
}

async function* runRounds(
  by: ChatAttempt,
  search: Search,
  upstream: MonitoredUpstream,
  deadlines: CallDeadlines,
): AsyncGenerator<ChatEvent[]> {
  const { session } = search
  let text = ''
  for (let isFirst = true; ; isFirst = false) {
    const source = await openRound(by, search, upstream, deadlines)
    if (isFailure(source)) {
      search.failure = source
      return yield [{ type: 'error', error: errorOf(source) }]
    }
    const round = new Round(isFirst)
    let isWhole = false
    try {
      for (let steps = await source.next(); steps; steps = await source.next()) {
        for (const { events } of steps) {
          if (!events) throw new Error('A step of a search round cannot be read.')
          session.meter.read(events)
          const forwarded = round.forward(events)
          if (forwarded.length > 0) yield forwarded
          if (round.hasFailed) return
          isWhole ||= events.some(({ type }) => type === 'done')
        }
        if (isWhole) break
      }
    } finally {
      void source.close(isWhole)
    }
    if (!isWhole && source.isEmpty) {
      search.failure = noContent
      return
    }
    if (!isWhole) throw new Error('The upstream cut the stream.')
    text += round.text
    const clientCalls = session.clientCallsOf(round.calls)
    if (clientCalls) return yield round.finish(clientCalls, session.citations(text))
    await session.search(round.text, round.calls, deadlines.signal)
    if (deadlines.cause) {
      search.failure = interruptionOf(deadlines)
      return
    }
  }
}

/** Sends a round. Returns its steps as they arrive, or all of them for a whole response. */
async function openRound(
  by: ChatAttempt,
  { session }: Search,
  upstream: MonitoredUpstream,
  deadlines: CallDeadlines,
): Promise<ChatSource | UpstreamFailure> {
  const { request, outputMax } = session
  try {
    const sent = await sendChat(by, upstream, deadlines.signal, { request, outputMax })
    if ('rejected' in sent) return failureOfRejection(sent.rejected)
    if (!by.chat.isStream) {
      const read = await readWhole(sent, deadlines)
      return isFailure(read) ? read : new StepSource(once(read.events))
    }
    return sourceOf(sent, deadlines)
  } catch (error) {
    return failureOfError(error, deadlines)
  }
}

async function* once(events: ChatEvent[]): AsyncGenerator<ChatEvent[]> {
  yield events
}

/** An error without a code is a fault of the upstream. */
const errorOf = ({ error }: UpstreamFailure): Json =>
  isApiError(error, 'content_policy') ? { code: 'content_policy_violation' } : {}

const callsMax = 1_000

/** One round. Its tool calls are withheld until all have arrived. */
class Round {
  text = ''
  hasFailed = false
  readonly calls: CallPart[] = []
  private readonly starts: CallEvent[] = []
  private end: ChatEvent | undefined
  private chars = 0

  /** A later round continues the response of the first, so that has the only start. */
  constructor(private readonly isFirst: boolean) {}

  /** Returns the steps to forward at once. */
  forward(events: readonly ChatEvent[]): ChatEvent[] {
    return events.filter((event) => this.isForwarded(event))
  }

  private isForwarded(event: ChatEvent): boolean {
    switch (event.type) {
      case 'start':
        return this.isFirst
      case 'call':
        this.addCall(event)
        return false
      case 'arguments':
        this.addArguments(event.call, event.text)
        return false
      case 'end':
        this.end = event
        return false
      case 'usage':
      case 'done':
        return false
      case 'error':
        this.hasFailed = true
        return true
      case 'text':
        this.count(event.text)
        this.text += event.text
        return this.isFirst || event.text !== ''
      default:
        return true
    }
  }

  private addCall(event: CallEvent): void {
    const { type: _, choice: __, call, ...rest } = event
    if (this.calls.length >= callsMax) throw new RangeError('A search round is too long.')
    this.starts[call] = event
    this.calls[call] = { type: 'call', ...rest, arguments: '' }
  }

  private addArguments(at: number, text: string): void {
    const call = this.calls[at]
    this.count(text)
    if (call) call.arguments += text
  }

  private count(text: string): void {
    this.chars += text.length
    if (this.chars > upstreamResponseBytesMax) throw new RangeError('A search round is too long.')
  }

  /** Returns the last steps: the client's tool calls, the citations, and the end. */
  finish(
    clientCalls: CallPart[],
    citations: Extract<ChatEvent, { type: 'citation' }>['citation'][],
  ): ChatEvent[] {
    const calls = clientCalls.flatMap((part, call): ChatEvent[] => {
      const start = this.starts[this.calls.indexOf(part)]
      if (!start) return []
      return [
        { ...start, call },
        { type: 'arguments', choice: 0, call, text: part.arguments },
      ]
    })
    return [
      ...calls,
      ...citations.map((citation): ChatEvent => ({ type: 'citation', choice: 0, citation })),
      ...(this.end ? [this.end] : []),
      { type: 'done' },
    ]
  }
}
