import { nano } from '../../core/money.ts'
import type { UpstreamOutput, UpstreamWork } from '../paid/call-upstream.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { contentFiltered, noContent, type UpstreamFailure } from '../paid/upstream-failure.ts'
import { type ChatCall, createMeter } from './chat-call.ts'
import { withCost } from './client-events.ts'
import { upstreamOutputLimit } from './max-cost.ts'
import type { ResponseMeter } from './response-meter.ts'
import { searchVia } from './search/search.ts'

export const completionWork = (chat: ChatCall): UpstreamWork => ({
  path: '/chat/completions',
  body: chat.request.body,
  outputLimit: ({ model }) => upstreamOutputLimit(chat.request, model),
  sendVia: searchVia(chat),
  read: (response, candidate, deadlines) =>
    readCompletion(response, createMeter(chat, candidate), deadlines, chat),
  // The prompt of a failed call was used.
  estimateUsage: (candidate) => createMeter(chat, candidate).usage(false),
})

async function readCompletion(
  response: Response,
  meter: ResponseMeter,
  deadlines: CallDeadlines,
  { transcriptionCost }: ChatCall,
): Promise<UpstreamOutput | UpstreamFailure> {
  const read = await readJsonObject(response, deadlines)
  if (!('answer' in read)) return read
  const { answer } = read
  meter.read(answer)
  if (meter.isFiltered) return contentFiltered
  if (!meter.hasContent) return noContent
  const usage = meter.usage(true)
  return {
    usage,
    response: (_cost, charge) => ({
      status: 200,
      body: withCost(answer, usage, nano(charge + transcriptionCost)),
    }),
  }
}
