import { nano, toUsd } from '../../kernel/money.ts'
import { type ChatEvent, type ChatResponse, gather } from '../conversation/chat-event.ts'
import type { Api } from '../conversation/chat-request.ts'
import { choicesOf } from '../openai-chat/chat-body.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { checkOutput } from '../paid/guardrail.ts'
import type { WholeOutput } from '../paid/serve-call.ts'
import {
  contentFiltered,
  isFailure,
  noContent,
  type UpstreamFailure,
} from '../paid/upstream-failure.ts'
import type { MonitoredUpstream } from '../providers/monitored-upstream.ts'
import type { AcceptedChat, SentChat } from '../providers/upstream.ts'
import { type ChatAttempt, type ChatCall, createMeter, sendChat } from './chat-call.ts'
import { readWhole, type WholeResponse } from './read-whole.ts'
import { encodeWhole } from './response-cache.ts'
import { openSearch } from './search/rounds.ts'

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
export const speaks = (sent: SentChat, api: Api | undefined): boolean =>
  'codec' in sent && sent.codec.api === api

/** Names the fields of a request that its upstream did not get. */
export function reportIgnored(
  { request, ignored, reportIgnored: report }: ChatCall,
  sent: AcceptedChat,
): void {
  const isRaw = request.raw !== undefined && speaks(sent, request.raw.api)
  report?.([...sent.ignored, ...(ignored?.[isRaw ? 'passed' : 'written'] ?? [])])
}
