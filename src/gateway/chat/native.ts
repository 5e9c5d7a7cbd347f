import type { AppContext } from '../../context.ts'
import { type NanoUsd, toUsd } from '../../core/money.ts'
import { isRecord, type Json, recordOf } from '../../core/schema.ts'
import { asString } from '../../providers/response.ts'
import type { NativeRequest } from '../../providers/upstream.ts'
import type { SendVia } from '../paid/call-upstream.ts'
import type { Candidate, Candidates } from '../paid/candidates.ts'
import type { ChatCall } from './chat-call.ts'
import { upstreamOutputLimit } from './max-cost.ts'

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

/** Returns the native request of a chat where the upstream of a candidate takes it. */
export function findNative(
  { native, request, ctx, rejectedBy }: ChatCall,
  candidate: Candidate,
): NativeChat | undefined {
  if (!native || request.search || rejectedBy === candidate) return undefined
  return takesNative(ctx, native, candidate) ? native : undefined
}

const takesNative = ({ upstreams }: AppContext, { kind }: NativeChat, { offer }: Candidate) =>
  upstreams.find(offer.upstream)?.nativeApi === kind

/** Returns the bytes of a native request that an upstream may get; undefined for none. */
export const countNativeBytes = (
  ctx: AppContext,
  native: NativeChat | undefined,
  candidates: Candidates,
): number | undefined =>
  native && candidates.some((one) => takesNative(ctx, native, one))
    ? native.countBytes()
    : undefined

/** Counts the bytes of a native request without its images: these have a price of their own. */
export const countBytesBeside = (images: unknown[], body: Json): number =>
  images.reduce<number>(
    (bytes, image) => bytes - asString(image).length,
    Buffer.byteLength(JSON.stringify(body)),
  )

/** Returns how to send a chat with a native request; undefined for other chats. */
export function nativeVia(chat: ChatCall): SendVia | undefined {
  const { request, native } = chat
  if (!native || request.search) return undefined
  return async (send, candidate) => {
    const limit = upstreamOutputLimit(request, candidate.model)
    const found = findNative(chat, candidate)
    const response = await send(request.body, limit, found?.request)
    const isRejected = found?.hasFallback === true && response.status === 404
    if (!isRejected) {
      native.onResponse?.(found !== undefined)
      return response
    }
    chat.rejectedBy = candidate
    native.onResponse?.(false)
    return send(request.body, limit)
  }
}

/** Returns a native response with its cost in USD, which no other field carries. */
export function withNativeCost({ usageName }: NativeChat, response: Json, charge: NanoUsd): Json {
  // OpenRouter's field for what the operator pays.
  const { cost_details: _, ...usage } = recordOf(response[usageName])
  return { ...response, [usageName]: { ...usage, cost: toUsd(charge) } }
}

/** Returns whether a response, or an event of a stream, is of a chat and not native. */
export const isOfChat = ({ choices, object, error }: Json): boolean =>
  choices !== undefined || isRecord(error) || String(object).startsWith('chat.')
