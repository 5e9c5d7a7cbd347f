import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { asString } from '../providers/response.ts'
import type { NativeRequest } from '../providers/upstream.ts'

/**
 * A chat request in the format of another API. Upstreams of that API receive it unchanged, and
 * their response is relayed. Only its meter reads it as a chat.
 */
export interface NativeChat {
  /** The API that these upstreams take: their kind, or `responses`. */
  kind: string
  request: NativeRequest
  /** The field of its responses with the usage. */
  usageName: 'usage' | 'usageMetadata'
  /** True if the API may lack a model: then the chat is sent after a 404. */
  hasFallback?: boolean
  /** Returns the bytes of the request without images. They may exceed those of the chat. */
  countBytes(): number
  /** Learns with which request an upstream has responded. */
  onResponse?(isNative: boolean): void
  /** Converts a whole response to a chat completion. */
  toCompletion(response: Json): Json
  createConverter(): EventConverter
}

/** Converts the events of one stream for the meter. */
export interface EventConverter {
  /**
   * Converts the data of an event to that of a chat; undefined for one without meaning. A chunk
   * with `isLast` ends the stream, as [DONE] does.
   */
  read(data: string): string | undefined
  /** Returns `[DONE]` at the end of a complete stream, for an API without an event for it. */
  end?(): string | undefined
}

/** Counts the bytes of a native request without its images: these have a price of their own. */
export const countBytesBeside = (images: unknown[], body: Json): number =>
  images.reduce<number>(
    (bytes, image) => bytes - asString(image).length,
    Buffer.byteLength(JSON.stringify(body)),
  )

/** Returns a native response with its cost in USD, which no other field carries. */
export function withNativeCost({ usageName }: NativeChat, response: Json, charge: NanoUsd): Json {
  // OpenRouter's field for what the operator pays.
  const { cost_details: _, ...usage } = recordOf(response[usageName])
  return { ...response, [usageName]: { ...usage, cost: toUsd(charge) } }
}

/** Returns whether a response, or an event of a stream, is of a chat and not native. */
export const isOfChat = ({ choices, object, error }: Json): boolean =>
  choices !== undefined || isRecord(error) || String(object).startsWith('chat.')
