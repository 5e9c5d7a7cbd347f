import { type Json, recordOf } from '../../kernel/schema.ts'
import type { AppContext } from '../../server/context.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { createChatCompletion } from '../chat/chat.ts'
import { convertChunks } from '../chat/convert-stream.ts'
import { renameFields } from '../fields.ts'
import { asString, recordsIn } from '../providers/response.ts'
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
): Promise<Response> {
  const { chat, isStream, echo } = parseCompletionRequest(raw)
  const completion = await createChatCompletion(ctx, spender, chat, call).catch(
    renameFields({ messages: 'prompt' }),
  )
  const { ok, status, headers, body } = completion
  if (!ok || !body) return completion
  headers.delete('content-length')
  if (isStream) return new Response(convertChunks(body, chunkConverter(echo)), { status, headers })
  return Response.json(toCompletion(recordOf(await completion.json()), echo), { status, headers })
}

/** Returns the function that converts a chunk. The first one of each choice begins with `echo`. */
function chunkConverter(echo: string): (chunk: Json) => Json {
  const begun = new Set<unknown>()
  const echoOf = (index: unknown): string => {
    const isFirst = !begun.has(index)
    begun.add(index)
    return isFirst ? echo : ''
  }
  // Errors are the same in both streams.
  return (chunk) => (chunk.error ? chunk : toCompletion(chunk, echoOf))
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
