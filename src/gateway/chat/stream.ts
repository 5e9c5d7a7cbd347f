import { upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { nano } from '../../kernel/money.ts'
import type { PaidOutcome, RunningRequest } from '../../money/idempotency/paid-request.ts'
import type { AppContext } from '../../server/context.ts'
import { streamResponse } from '../events.ts'
import type { Usage } from '../models/usage.ts'
import { callUpstream } from '../paid/call-upstream.ts'
import type { Candidate } from '../paid/candidates.ts'
import { CallDeadlines, deadlineSettingsOf } from '../paid/deadlines.ts'
import { checkOutput } from '../paid/guardrail.ts'
import { OutcomeBuilder } from '../paid/outcome-builder.ts'
import {
  contentFiltered,
  failureOfErrorBody,
  interruptionOf,
  noContent,
  unreadable,
  type UpstreamFailure,
} from '../paid/upstream-failure.ts'
import { parseRecord } from '../providers/response.ts'
import { type ChatCall, createMeter } from './chat-call.ts'
import { completionWork } from './complete.ts'
import { toFunctionCalls } from './functions.ts'
import type { NativeChat } from './native-chat.ts'
import { findNative } from './native.ts'
import { Relay } from './relay.ts'
import type { ResponseMeter } from './response-meter.ts'
import { StreamCopy } from './stream-copy.ts'
import { UpstreamEvents } from './upstream-events.ts'

/**
 * Serves a chat as a stream. The client receives it with the first event, and the outcome charges
 * what was delivered. Under an Idempotency-Key the stream is read to its end even when the client
 * leaves, so that a retry finds the response.
 */
export async function serveStream(
  chat: ChatCall,
  { hold, respond, settled }: RunningRequest<Response>,
): Promise<PaidOutcome> {
  const { request, candidates, transcriptionCost, ctx, signal, slot, reportIgnored } = chat
  const deadlines = new CallDeadlines(signal, deadlineSettingsOf(ctx))
  const { estimateUsage, read: _, ...work } = completionWork(chat)
  const settlement = new OutcomeBuilder(chat, hold, estimateUsage)
  const result = await callUpstream(ctx.upstreams, candidates, {
    ...work,
    reportIgnored,
    deadlines,
    open: (response, by) => openStream(response, chat, by, deadlines),
    onFailure: (by, failure) => settlement.report(by, failure),
  }).catch((error: unknown) => {
    deadlines.end()
    throw error
  })
  const { candidate, opened, failure, attempt } = result
  if (failure && failure !== unreadable) {
    deadlines.end()
    return settlement.failed(candidate, failure)
  }
  settlement.markFirstByte()
  const meter = createMeter(chat, candidate)
  const native = findNative(chat, candidate)
  const copy = copyFor(chat, native)
  const costOf = (usage: Usage) => nano(settlement.chargeOf(candidate, usage) + transcriptionCost)
  // A stream that is unreadable from its first byte is an interrupted stream without content.
  const events = opened ?? (await UpstreamEvents.open(new Response(null), deadlines))
  const convert = request.hasFunctions ? toFunctionCalls : undefined
  const isNative = native !== undefined
  const wantsUsage = request.wantsUsage && !isNative
  const terms = { costOf: wantsUsage ? costOf : undefined, settled, copy, convert, isNative }
  const relay = new Relay(events, meter, deadlines, terms)
  const stream = copy && slot !== undefined ? copy.readBeside(relay.body()) : relay.body()
  if (isHeldBack(ctx)) void readToEnd(stream)
  else respond(streamResponse(stream))
  const end = await relay.ended
  const isWhole = end === 'done'
  const ended = end === 'empty' ? noContent : await failureOfHeldBack(chat, candidate, end, copy)
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
      output: isTraced(ctx) ? copy?.text : undefined,
    },
  )
}

const isTraced = ({ telemetry }: AppContext): boolean => telemetry?.hasContent === true

/** Returns whether streams wait for the guardrail, which checks whole responses. */
const isHeldBack = ({ guardrail }: AppContext): boolean => guardrail?.checksOutput === true

/** Returns the copy of a stream for its replay, the cache, the guardrail or a trace. */
function copyFor(
  { ctx, slot, keep }: ChatCall,
  native: NativeChat | undefined,
): StreamCopy | undefined {
  const isKept = slot !== undefined || keep !== undefined || isHeldBack(ctx)
  if (isKept) return new StreamCopy(upstreamResponseBytesMax, native)
  return isTraced(ctx) ? new StreamCopy(tracedBytesMax, native) : undefined
}

/** Returns the failure of a stream that was held back, and that may not be sent. */
async function failureOfHeldBack(
  chat: ChatCall,
  { model }: Candidate,
  end: string,
  copy: StreamCopy | undefined,
): Promise<UpstreamFailure | undefined> {
  if (!isHeldBack(chat.ctx) || end === 'client') return undefined
  if (end !== 'done' || !copy?.response) return noContent
  return checkOutput(chat, model.id, copy.textWithReasoning)
}

/** Reads a stream that no client gets. */
async function readToEnd(body: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of body) continue
}

/** Opens a stream. One that ends or fails before its first event is a failure. */
async function openStream(
  response: Response,
  chat: ChatCall,
  candidate: Candidate,
  deadlines: CallDeadlines,
): Promise<UpstreamEvents | UpstreamFailure> {
  const convert = findNative(chat, candidate)?.createConverter()
  const events = await UpstreamEvents.open(response, deadlines, convert)
  const failure = deadlines.cause
    ? interruptionOf(deadlines)
    : failureOfFirstEvent(events, createMeter(chat, candidate))
  if (failure) void events.close(false)
  return failure ?? events
}

function failureOfFirstEvent(
  { first, isEmpty }: UpstreamEvents,
  meter: ResponseMeter,
): UpstreamFailure | undefined {
  if (first === undefined) return isEmpty ? noContent : undefined
  if (first.trim() === '[DONE]') return noContent
  const chunk = parseRecord(first)
  if (!chunk) return undefined
  if (chunk.error) return failureOfErrorBody(chunk.error)
  meter.read(chunk)
  if (meter.isFiltered) return contentFiltered
  return chunk.isLast && !meter.hasContent ? noContent : undefined
}

/** Bytes of a stream that are kept for its trace alone. */
const tracedBytesMax = 262_144
