import { nano } from '../../kernel/money.ts'
import type { SendVia, UpstreamOutput, UpstreamWork } from '../paid/call-upstream.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { checkOutput } from '../paid/guardrail.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { contentFiltered, noContent, type UpstreamFailure } from '../paid/upstream-failure.ts'
import { type ChatCall, createMeter } from './chat-call.ts'
import { withCost } from './client-events.ts'
import { toFunctionCalls } from './functions.ts'
import { limitsOf, upstreamOutputLimit } from './max-cost.ts'
import { withNativeCost } from './native-chat.ts'
import { findNative, nativeVia } from './native.ts'
import { searchAndComplete } from './search/complete.ts'
import { SearchSession } from './search/search-session.ts'
import { searchAndStream } from './search/stream.ts'

export const completionWork = (chat: ChatCall): UpstreamWork => ({
  path: '/chat/completions',
  body: chat.request.body,
  outputLimit: ({ model }) => upstreamOutputLimit(chat.request, model),
  sendVia: searchVia(chat) ?? nativeVia(chat),
  read: (response, candidate, deadlines) => readCompletion(response, chat, candidate, deadlines),
  // The prompt of a failed call was used.
  estimateUsage: (candidate) => createMeter(chat, candidate).usage(false),
})

async function readCompletion(
  response: Response,
  chat: ChatCall,
  candidate: Candidate,
  deadlines: CallDeadlines,
): Promise<UpstreamOutput | UpstreamFailure> {
  const read = await readJsonObject(response, deadlines)
  if (!('json' in read)) return read
  const { json } = read
  const meter = createMeter(chat, candidate)
  const native = findNative(chat, candidate)
  const completion = native ? native.toCompletion(json) : json
  meter.read(completion)
  if (meter.isFiltered) return contentFiltered
  if (!meter.hasContent) return noContent
  const failure = await checkOutput(chat, candidate.model.id, completion.choices)
  if (failure) return failure
  const usage = meter.usage(true)
  return {
    usage,
    ...(native && { completion }),
    response: (_cost, charge) => {
      const total = nano(charge + chat.transcriptionCost)
      const converted = chat.request.hasFunctions ? toFunctionCalls(json) : json
      const body = native ? withNativeCost(native, json, total) : withCost(converted, usage, total)
      chat.keep?.({ status: 200, body })
      return { status: 200, body }
    },
  }
}

/** Returns how to send a chat that may search the web; undefined for other chats. */
function searchVia(chat: ChatCall): SendVia | undefined {
  const { request, limits, ctx } = chat
  const { searcher } = ctx
  if (!request.search || !searcher) return undefined
  return (send, { model }, deadlines) => {
    // Each attempt starts over: the searches of a failed one are not charged.
    const modelLimits = limits.get(model) ?? limitsOf(request, model)
    chat.searching = new SearchSession(searcher, request.body, modelLimits, model.imageTokens)
    const run = request.isStream ? searchAndStream : searchAndComplete
    return run(chat.searching, send, deadlines)
  }
}
