import type { AppContext } from '../../kernel/context.ts'
import { upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { nano, toUsd } from '../../kernel/money.ts'
import type { PaidOutcome, RunningRequest } from '../../money/idempotency/paid-request.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import type { FinalUsage } from '../conversation/codec.ts'
import { streamResponse } from '../events.ts'
import { callUpstream, isFailure } from '../paid/call-upstream.ts'
import type { Candidate } from '../paid/candidates.ts'
import { CallDeadlines, deadlineSettingsOf } from '../paid/deadlines.ts'
import { checkOutput } from '../paid/guardrail.ts'
import { OutcomeBuilder } from '../paid/outcome-builder.ts'
import {
  contentFiltered,
  failureOfErrorBody,
  failureOfRejection,
  interruptionOf,
  noContent,
  unreadable,
  type UpstreamFailure,
} from '../paid/upstream-failure.ts'
import type { MonitoredUpstream } from '../providers/monitored-upstream.ts'
import { type ChatAttempt, type ChatCall, createMeter, sendChat } from './chat-call.ts'
import { Relay } from './relay.ts'
import type { ResponseMeter } from './response-meter.ts'
import { openSearch } from './search/rounds.ts'
import { reportIgnored, speaks } from './serve-whole.ts'
import { type ChatSource, OpenedSource, sourceOf, StepSource } from './source.ts'
import { StreamCopy, StreamTexts } from './stream-copy.ts'

/** A stream of an upstream, up to its first content. */
interface OpenedStream extends ChatAttempt {
  source: OpenedSource
  /** True if the upstream has the client's API. */
  isPassed: boolean
}

/**
 * Serves a chat as a stream. The client receives it with the first event, and the outcome charges
 * what was delivered. Under an Idempotency-Key the stream is read to its end even when the client
 * leaves, so that a retry finds the response.
 */
export async function serveStream(
  chat: ChatCall,
  { hold, respond, settled }: RunningRequest<Response>,
): Promise<PaidOutcome> {
  const { candidates, transcriptionCost, ctx, signal, slot } = chat
  const deadlines = new CallDeadlines(signal, deadlineSettingsOf(ctx))
  const settlement = new OutcomeBuilder(chat, hold, (candidate) =>
    createMeter({ chat, candidate }).usage(false),
  )
  const result = await callUpstream(ctx.upstreams, candidates, {
    deadlines,
    attempt: (upstream, candidate) => open({ chat, candidate }, upstream, deadlines),
    onFailure: (by, failure) => settlement.report(by, failure),
  }).catch((error: unknown) => {
    deadlines.end()
    throw error
  })
  const { candidate, failure, attempt } = result
  if (failure && failure !== unreadable) {
    deadlines.end()
    return settlement.failed(candidate, failure)
  }
  settlement.markFirstByte()
  // A stream that is unreadable from its first byte is an interrupted stream without content.
  const opened = result.opened ?? emptyStream({ chat, candidate })
  const meter = createMeter(opened)
  const { copy, texts } = copiesOf(chat)
  const final = (): FinalUsage => {
    const usage = meter.usage(true)
    const cost = toUsd(nano(settlement.chargeOf(candidate, usage) + transcriptionCost))
    return { usage, cost }
  }
  const { source, isPassed } = opened
  const writer = chat.clientOf(candidate).createWriter()
  const relay = new Relay(source, meter, deadlines, { writer, isPassed, final, settled, copy })
  const stream = copy && slot !== undefined ? copy.readBeside(relay.body()) : relay.body()
  if (isHeldBack(ctx)) void readToEnd(stream)
  else respond(streamResponse(stream))
  const end = await relay.ended
  const isWhole = end === 'done'
  const ended = await failureOfEnd(chat, candidate, end, texts)
  if (ended) {
    attempt?.end(isWhole ? 'dismissed' : 'failed')
    if (attempt) settlement.report({ candidate, attempt }, ended)
    return settlement.failed(candidate, ended)
  }
  if (isWhole && copy?.response) chat.keep?.(copy.response)
  return settlement.served(
    { candidate, attempt },
    {
      usage: meter.usage(isWhole),
      end: isWhole ? 'completed' : end === 'client' ? 'interrupted' : 'failed',
      // A charged stream is replayed even where it broke off.
      response: slot !== undefined || isHeldBack(ctx) ? copy?.response : undefined,
      output: isTraced(ctx) ? texts?.text : undefined,
    },
  )
}

const isTraced = ({ telemetry }: AppContext): boolean => telemetry?.hasContent === true

/** Returns whether streams wait for the guardrail, which checks whole responses. */
const isHeldBack = ({ guardrail }: AppContext): boolean => guardrail?.checksOutput === true

/** Characters of a stream that are kept for its trace alone. */
const tracedCharsMax = 262_144

const textCharsMax = (ctx: AppContext): number =>
  isHeldBack(ctx) ? upstreamResponseBytesMax : tracedCharsMax

/** Returns the copies of a stream: its bytes for a replay or the cache, and its texts. */
function copiesOf({ ctx, slot, keep }: ChatCall): {
  copy: StreamCopy | undefined
  texts: StreamTexts | undefined
} {
  const texts = isHeldBack(ctx) || isTraced(ctx) ? new StreamTexts(textCharsMax(ctx)) : undefined
  const isKept = slot !== undefined || keep !== undefined || isHeldBack(ctx)
  const bytesMax = isKept ? upstreamResponseBytesMax : 0
  return { copy: isKept || texts ? new StreamCopy(bytesMax, texts) : undefined, texts }
}

/** Returns the failure of a stream without content, or of one held back that may not be sent. */
async function failureOfEnd(
  chat: ChatCall,
  { model }: Candidate,
  end: string,
  texts: StreamTexts | undefined,
): Promise<UpstreamFailure | undefined> {
  if (end === 'empty') return noContent
  if (!isHeldBack(chat.ctx) || end === 'client') return undefined
  if (end !== 'done' || !texts) return noContent
  return checkOutput(chat, model.id, texts.textWithReasoning)
}

/** Reads a stream that no client gets. */
async function readToEnd(body: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of body) continue
}

async function* nothing(): AsyncGenerator<ChatEvent[]> {}

const emptyStream = (by: ChatAttempt) => ({
  ...by,
  source: new StepSource(nothing()),
  isPassed: false,
})

/** Opens a stream. One that ends or fails before its first content is a failure. */
async function open(
  by: ChatAttempt,
  upstream: MonitoredUpstream,
  deadlines: CallDeadlines,
): Promise<OpenedStream | UpstreamFailure> {
  const searching = openSearch(by)
  if (searching) {
    const opened = await openSource(
      { ...by, searching: searching.session },
      new StepSource(searching.rounds(upstream, deadlines)),
      deadlines,
      false,
    )
    return searching.failure && isFailure(opened) ? searching.failure : opened
  }
  const sent = await sendChat(by, upstream, deadlines.signal)
  if ('rejected' in sent) return failureOfRejection(sent.rejected)
  reportIgnored(by.chat, sent)
  return openSource(by, sourceOf(sent, deadlines), deadlines, speaks(sent, by.chat.api))
}

async function openSource(
  by: ChatAttempt,
  upstreamSource: ChatSource,
  deadlines: CallDeadlines,
  isPassed: boolean,
): Promise<OpenedStream | UpstreamFailure> {
  const source = await OpenedSource.open(upstreamSource)
  const failure = deadlines.cause
    ? interruptionOf(deadlines)
    : failureOfOpening(source, createMeter(by))
  if (!failure) return { ...by, source, isPassed }
  void source.close(false)
  return failure
}

function failureOfOpening(
  { opening, isEmpty }: OpenedSource,
  meter: ResponseMeter,
): UpstreamFailure | undefined {
  if (!opening) return isEmpty ? noContent : undefined
  const { events = [] } = opening
  meter.read(events)
  const failed = events.find((event) => event.type === 'error')
  if (failed) return failureOfErrorBody(failed.error)
  if (meter.isFiltered) return contentFiltered
  const isDone = events.some(({ type }) => type === 'done')
  return isDone && !meter.hasContent ? noContent : undefined
}
