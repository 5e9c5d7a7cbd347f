import type { FieldNames } from '../../kernel/errors.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import type { AppContext } from '../../server/context.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { streamResponse } from '../events.ts'
import { renameFields } from '../fields.ts'
import { createChatCompletion } from './chat.ts'
import { type ChatConverter, convertStream } from './convert-stream.ts'
import { isOfChat, type NativeChat } from './native-chat.ts'

/** A request of another API as a chat, and the way back of its response. */
interface Translation {
  chat: Json
  isStream: boolean
  native: NativeChat | undefined
  /** The client's names of the chat's fields. */
  names: FieldNames
  /** Fields that have no effect where the chat is sent, and where the native request is. */
  ignored?: { chat: string[]; native: string[] }
  createConverter(): ChatConverter
  /** Converts a whole chat completion. */
  convert(completion: Json): Json | Promise<Json>
  /** Reads a whole response of an upstream that speaks the other API. */
  readNative?(response: Json): Promise<Json>
}

/**
 * Creates a chat completion for a client of another API, and returns it in the format of that. The
 * response of an upstream that speaks the other API is relayed. Throws the errors of the chat.
 */
export async function createTranslatedChat(
  ctx: AppContext,
  spender: Spender,
  call: Call,
  translation: Translation,
): Promise<Response> {
  const { chat, native, ignored } = translation
  let left = ignored?.chat
  const observed = native && {
    ...native,
    onResponse: (isNative: boolean) => void (left = ignored?.[isNative ? 'native' : 'chat']),
  }
  const completion = await createChatCompletion(ctx, spender, chat, call, observed).catch(
    renameFields(translation.names),
  )
  // The replay of a charged error.
  if (!completion.ok) return completion
  if (left) call.reportIgnored?.(left)
  if (translation.isStream && completion.body) {
    return streamResponse(convertStream(completion.body, translation.createConverter()))
  }
  const result = recordOf(await completion.json())
  const body = isOfChat(result)
    ? await translation.convert(result)
    : ((await translation.readNative?.(result)) ?? result)
  return Response.json(body, { headers: costHeaderOf(completion) })
}

/** Returns the header with the cost of a response, for another one. */
export function costHeaderOf({ headers }: Response): Record<string, string> {
  const cost = headers.get('x-service-cost')
  return cost ? { 'x-service-cost': cost } : {}
}
