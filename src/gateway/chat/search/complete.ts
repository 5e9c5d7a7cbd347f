import { itemsOf, type Json, recordOf } from '../../../kernel/schema.ts'
import type { SendUpstream } from '../../paid/call-upstream.ts'
import type { CallDeadlines } from '../../paid/deadlines.ts'
import { readJsonObject } from '../../paid/response-body.ts'
import { interruptionOf, type UpstreamFailure } from '../../paid/upstream-failure.ts'
import { presentUsage } from '../client-events.ts'
import { parseToolCalls, type SearchSession, type ToolCall } from './search-session.ts'

/** Serves a chat that may search as one completion: that of its last round. */
export async function searchAndComplete(
  session: SearchSession,
  send: SendUpstream,
  deadlines: CallDeadlines,
): Promise<Response | UpstreamFailure> {
  for (;;) {
    const response = await send(session.body, session.outputTokensLeft)
    if (!response.ok) return response
    const read = await readJsonObject(response, deadlines)
    if (!('json' in read)) return read
    session.read(read.json)
    const choice = recordOf(itemsOf(read.json.choices)[0])
    const message = recordOf(choice.message)
    const text = typeof message.content === 'string' ? message.content : ''
    const calls = parseToolCalls(message)
    const clientCalls = session.clientCallsOf(calls)
    if (clientCalls) {
      return Response.json(completionOf(session, read.json, { choice, text, clientCalls }))
    }
    await session.search(text, calls, deadlines.signal)
    if (deadlines.cause) return interruptionOf(deadlines)
  }
}

/** Returns the last round's completion without search calls, with citations and all usage. */
function completionOf(
  session: SearchSession,
  completion: Json,
  { choice, text, clientCalls }: { choice: Json; text: string; clientCalls: ToolCall[] },
): Json {
  const { tool_calls: _, ...rest } = recordOf(choice.message)
  const annotations = session.citations(text)
  const hasChoice = itemsOf(completion.choices).length > 0
  const message = {
    ...rest,
    ...(clientCalls.length > 0 && { tool_calls: clientCalls.map(({ raw }) => raw) }),
    ...(annotations.length > 0 && { annotations }),
  }
  return {
    ...completion,
    ...(hasChoice && { choices: [{ ...choice, message }] }),
    ...(session.hasReportedUsage && { usage: presentUsage(session.usage(true)) }),
  }
}
