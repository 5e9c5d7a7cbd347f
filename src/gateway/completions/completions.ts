import type { AppContext } from '../../context.ts'
import { type Json, recordOf } from '../../core/schema.ts'
import { eventBytesMax } from '../../limits.ts'
import { asString, parseRecord, recordsIn } from '../../providers/response.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { createChatCompletion, type TranscriberFactory } from '../chat/chat.ts'
import { bytesOf, encodeEvent, EventReader, type StreamEvent } from '../chat/events.ts'
import { parseCompletionRequest } from './request.ts'

/**
 * Creates a completion of a text (OpenAI, POST /v1/completions) from a chat completion, which is
 * held, served and charged as such. Throws `bad_request` and the errors of the chat.
 */
export async function createCompletion(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
  createTranscriber: TranscriberFactory,
): Promise<Response> {
  const { chat, isStream, echo } = parseCompletionRequest(raw)
  const completion = await createChatCompletion(ctx, spender, chat, call, createTranscriber)
  const { ok, status, headers, body } = completion
  if (!ok || !body) return completion
  headers.delete('content-length')
  if (isStream) return new Response(convertStream(body, echo), { status, headers })
  return Response.json(toCompletion(recordOf(await completion.json()), echo), { status, headers })
}

function convertStream(chat: ReadableStream<Uint8Array>, echo: string): ReadableStream<Uint8Array> {
  const events = new EventReader(eventBytesMax)
  const begun = new Set<unknown>()
  const convert = (event: StreamEvent): Uint8Array => {
    const chunk = event.data === undefined ? undefined : parseRecord(event.data)
    // Comments, [DONE] and errors are the same in both streams.
    if (!chunk || chunk.error) return bytesOf([event])
    return encodeEvent(
      toCompletion(chunk, (index) => {
        const isFirst = !begun.has(index)
        begun.add(index)
        return isFirst ? echo : ''
      }),
    )
  }
  return chat.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, out) {
        for (const event of events.push(bytes)) out.enqueue(convert(event))
      },
    }),
  )
}

/** Converts a chat completion or a chunk of one. `echo`: the text before a choice. */
function toCompletion(
  { id, created, model, choices, usage }: Json,
  echo: string | ((index: unknown) => string),
): Json {
  return {
    id: asString(id).replace(/^chatcmpl/, 'cmpl'),
    object: 'text_completion',
    created,
    model,
    choices: recordsIn(choices).map(({ index, message, delta, finish_reason }) => {
      const { content } = recordOf(message ?? delta)
      const before = typeof echo === 'string' ? echo : echo(index)
      return {
        text: before + asString(content),
        index,
        logprobs: null,
        finish_reason: finish_reason ?? null,
      }
    }),
    ...(usage !== undefined && { usage }),
  }
}
