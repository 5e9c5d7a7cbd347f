import type { AppContext } from '../../kernel/context.ts'
import { upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { nano, toUsd } from '../../kernel/money.ts'
import { type ChatEvent, type ChatResponse, gather } from '../conversation/chat-event.ts'
import type { Api } from '../conversation/chat-request.ts'
import type { FinalUsage } from '../conversation/codec.ts'
import { eventStream } from '../events.ts'
import { choicesOf } from '../openai-chat/chat-body.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { checkOutput } from '../paid/guardrail.ts'
import type { ServedCall, StreamOutput, WholeOutput } from '../paid/serve-call.ts'
import {
  contentFiltered,
  failureOfError,
  failureOfErrorBody,
  failureOfRejection,
  interruptionOf,
  isFailure,
  noContent,
  unreadable,
  type UpstreamFailure,
} from '../paid/upstream-failure.ts'
import type { MonitoredUpstream } from '../providers/monitored-upstream.ts'
import type { AcceptedChat, SentChat } from '../providers/upstream.ts'
import { type ChatAttempt, type ChatCall, createMeter, sendChat } from './chat-call.ts'
import type { ChatMeter } from './meter.ts'
import { readWhole, type WholeResponse } from './read-whole.ts'
import { Relay, StreamCopy, StreamTexts } from './relay.ts'
import { encodeWhole } from './response-cache.ts'
import { openSearch } from './search/rounds.ts'
import { type ChatSource, OpenedSource, sourceOf, StepSource } from './source.ts'

/** A stream of an upstream, up to its first content. */
interface OpenedStream extends ChatAttempt {
  source: ChatSource
  /** True if the upstream has the client's API. */
  isPassed: boolean
}

/**
 * Calls an upstream for a chat, and opens the stream of its response. The client receives it with
 * the first event, and what was delivered is charged. Under an Idempotency-Key the stream is read
 * to its end even when the client leaves, so that a retry finds the response.
 */
export async function requestStream(
  by: ChatAttempt,
  upstream: MonitoredUpstream,
  deadlines: CallDeadlines,
): Promise<StreamOutput | UpstreamFailure> {
  const opened = await open(by, upstream, deadlines).catch((error: unknown) =>
    failureOfError(error, deadlines),
  )
  if (!isFailure(opened)) return streamOf(opened, deadlines)
  // A stream that is unreadable from its first byte is an interrupted stream without content.
  return opened === unreadable ? streamOf(emptyStream(by), deadlines) : opened
}

const streamOf = (opened: OpenedStream, deadlines: CallDeadlines): StreamOutput => ({
  start({ chargeOf, settled }) {
    const { chat, candidate, source, isPassed } = opened
    const meter = createMeter(opened)
    const copies = copiesOf(chat)
    const { copy } = copies
    const final = (): FinalUsage => {
      const usage = meter.usage(true)
      return { usage, cost: toUsd(nano(chargeOf(usage) + chat.transcriptionCost)) }
    }
    const writer = chat.clientOf(candidate).createWriter()
    const relay = new Relay(source, meter, deadlines, { writer, isPassed, final, settled, copy })
    const stream = copy && chat.slot !== undefined ? copy.readBeside(relay.body()) : relay.body()
    const isKept = isHeldBack(chat.ctx)
    if (isKept) void readToEnd(stream)
    return {
      response: isKept ? undefined : eventStream(stream),
      ended: relay.ended.then((end) => endOf(opened, meter, copies, end)),
    }
  },
})

/** Returns the usage of a stream that has ended, with its replay; or its failure. */
async function endOf(
  { chat, candidate, isPassed }: OpenedStream,
  meter: ChatMeter,
  { copy, texts }: Copies,
  end: Awaited<Relay['ended']>,
): Promise<ServedCall | UpstreamFailure> {
  const { ctx, slot, keep } = chat
  const failure = await failureOfEnd(chat, candidate, end, texts)
  if (failure) return failure
  const isWhole = end === 'done'
  const usage = meter.usage(isWhole)
  const { steps } = copy ?? {}
  if (isWhole && steps) keep?.({ content: { steps, isPassed }, usage, candidate })
  return {
    usage,
    end: isWhole ? 'completed' : end === 'client' ? 'interrupted' : 'failed',
    // A charged stream is replayed even where it broke off.
    response: slot !== undefined || isHeldBack(ctx) ? copy?.response : undefined,
    output: isTraced(ctx) ? texts?.text : undefined,
  }
}

const isTraced = ({ telemetry }: AppContext): boolean => telemetry?.hasContent === true

/** Returns whether streams wait for the guardrail, which checks whole responses. */
const isHeldBack = ({ guardrail }: AppContext): boolean => guardrail?.checksOutput === true

/** Characters of a stream that are kept for its trace alone. */
const tracedCharsMax = 262_144

const textCharsMax = (ctx: AppContext): number =>
  isHeldBack(ctx) ? upstreamResponseBytesMax : tracedCharsMax

interface Copies {
  copy: StreamCopy | undefined
  texts: StreamTexts | undefined
}

/** Returns the copies of a stream: its bytes for a replay, its steps for the cache, its texts. */
function copiesOf({ ctx, slot, keep }: ChatCall): Copies {
  const texts = isHeldBack(ctx) || isTraced(ctx) ? new StreamTexts(textCharsMax(ctx)) : undefined
  const isKept = slot !== undefined || keep !== undefined || isHeldBack(ctx)
  const bytesMax = isKept ? upstreamResponseBytesMax : 0
  const read = { texts, keepsSteps: keep !== undefined }
  return { copy: isKept || texts ? new StreamCopy(bytesMax, read) : undefined, texts }
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
  meter: ChatMeter,
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

/** Calls an upstream for a chat, and reads its whole response. */
export async function requestWhole(
  by: ChatAttempt,
  upstream: MonitoredUpstream,
  deadlines: CallDeadlines,
): Promise<WholeOutput | UpstreamFailure> {
  const searching = openSearch(by)
  if (!searching) {
    const sent = await sendChat(by, upstream, deadlines.signal)
    const read = await readWhole(sent, deadlines)
    return isFailure(read) ? read : outputOf(by, read, sent)
  }
  const events: ChatEvent[] = []
  for await (const steps of searching.rounds(upstream, deadlines)) events.push(...steps)
  if (searching.failure) return searching.failure
  return outputOf({ ...by, searching: searching.session }, { events }, undefined)
}

/** Measures a response, checks it, and returns how the client gets it. */
async function outputOf(
  by: ChatAttempt,
  { events, json }: WholeResponse,
  sent: SentChat | undefined,
): Promise<WholeOutput | UpstreamFailure> {
  const { chat, candidate } = by
  const meter = createMeter(by)
  meter.read(events)
  if (meter.isFiltered) return contentFiltered
  if (!meter.hasContent) return noContent
  const response = gather(events)
  const failure = await guard(chat, candidate.model.id, response)
  if (failure) return failure
  const { transcriptionCost, ctx } = chat
  const client = chat.clientOf(candidate)
  const content = { response, json: sent && speaks(sent, chat.api) ? json : undefined }
  if (sent && !('rejected' in sent)) reportIgnored(chat, sent)
  const usage = meter.usage(true)
  return {
    usage,
    ...(ctx.telemetry?.hasContent && { output: { choices: choicesOf(response) } }),
    async response(_cost, charge) {
      const final = { usage, cost: toUsd(nano(charge + transcriptionCost)) }
      const body = await encodeWhole(content, client, final)
      chat.keep?.({ content, usage, candidate })
      return body
    },
  }
}

/** Asks the guardrail of the operator about a response. */
const guard = async (
  chat: ChatCall,
  model: string,
  response: ChatResponse,
): Promise<UpstreamFailure | undefined> =>
  chat.ctx.guardrail?.checksOutput ? checkOutput(chat, model, choicesOf(response)) : undefined

/** Returns whether an upstream responds in an API, so that its bytes can be passed on. */
const speaks = (sent: SentChat, api: Api | undefined): boolean =>
  'codec' in sent && sent.codec.api === api

/** Names the fields of a request that its upstream did not get. */
function reportIgnored(
  { request, ignored, reportIgnored: report }: ChatCall,
  sent: AcceptedChat,
): void {
  const isRaw = request.raw !== undefined && speaks(sent, request.raw.api)
  report?.([...sent.ignored, ...(ignored?.[isRaw ? 'passed' : 'written'] ?? [])])
}
