import { itemsOf, recordOf } from '../../../core/schema.ts'
import { readRecord } from '../../paid/answer.ts'
import type { Send } from '../../paid/reach.ts'
import { brokenOff, type Verdict } from '../../paid/verdict.ts'
import type { Watch } from '../../paid/watch.ts'
import { presentUsage } from '../told.ts'
import { type Called, callsOf, type Searching } from './searching.ts'

type Json = Record<string, unknown>

/** Serves a request that may search in one answer: that of its last round. */
export async function searchWhole(
  searching: Searching,
  send: Send,
  watch: Watch,
): Promise<Response | Verdict> {
  for (;;) {
    const response = await send(searching.body, searching.left)
    if (!response.ok) return response
    const read = await readRecord(response, watch)
    if (!('answer' in read)) return read
    searching.read(read.answer)
    const choice = choiceOf(read.answer)
    const message = recordOf(choice.message)
    const text = typeof message.content === 'string' ? message.content : ''
    const calls = callsOf(message)
    const theirs = searching.theirs(calls)
    if (theirs) return Response.json(answerOf(searching, read.answer, { choice, text, theirs }))
    await searching.next(text, calls, watch.signal)
    if (watch.cause) return brokenOff(watch)
  }
}

const choiceOf = ({ choices }: Json): Json => recordOf(itemsOf(choices)[0])

/** The last round's answer: without our calls, with the pages it stands on, and all its usage. */
function answerOf(
  searching: Searching,
  answer: Json,
  { choice, text, theirs }: { choice: Json; text: string; theirs: Called[] },
): Json {
  const { tool_calls: _, ...message } = recordOf(choice.message)
  const annotations = searching.citations(text)
  const hasChoice = itemsOf(answer.choices).length > 0
  const said = {
    ...message,
    ...(theirs.length > 0 && { tool_calls: theirs.map(({ raw }) => raw) }),
    ...(annotations.length > 0 && { annotations }),
  }
  return {
    ...answer,
    ...(hasChoice && { choices: [{ ...choice, message: said }] }),
    ...(searching.isTold && { usage: presentUsage(searching.usage(true)) }),
  }
}
