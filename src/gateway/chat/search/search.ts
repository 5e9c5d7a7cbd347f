import type { SendVia } from '../../paid/call-upstream.ts'
import type { ChatCall } from '../chat-call.ts'
import { limitsOf } from '../max-cost.ts'
import { searchAndComplete } from './complete.ts'
import { SearchSession } from './search-session.ts'
import { searchAndStream } from './stream.ts'

/** Returns how to send a chat that may search the web; undefined for other chats. */
export function searchVia(chat: ChatCall): SendVia | undefined {
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
