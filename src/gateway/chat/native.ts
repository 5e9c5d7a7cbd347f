import { type NanoUsd, toUsd } from '../../core/money.ts'
import { isRecord, type Json, recordOf } from '../../core/schema.ts'
import type { NativeRequest } from '../../providers/upstream.ts'
import type { SendVia } from '../paid/call-upstream.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { ChatCall } from './chat-call.ts'
import { upstreamOutputLimit } from './max-cost.ts'

/**
 * A chat request in the format of another API. Upstreams of that API receive it unchanged, and
 * their response is relayed. Only its meter reads it as a chat.
 */
export interface NativeChat {
  /** The kind of these upstreams. */
  kind: string
  request: NativeRequest
  /** The field of its responses with the usage. */
  usageName: 'usage' | 'usageMetadata'
  /** Converts a whole response to a chat completion. */
  toCompletion(response: Json): Json
  createConverter(): EventConverter
}

/** Converts the events of one stream for the meter. */
export interface EventConverter {
  /** Converts the data of an event to that of a chat; undefined for one without meaning. */
  read(data: string): string | undefined
  /** Returns `[DONE]` at the end of a complete stream, for an API without an event for it. */
  end?(): string | undefined
}

/** Returns the native request of a chat where the upstream of a candidate takes it. */
export function findNative(
  { native, request, ctx }: ChatCall,
  { offer }: Candidate,
): NativeChat | undefined {
  if (!native || request.search) return undefined
  return ctx.upstreams.find(offer.upstream)?.kind === native.kind ? native : undefined
}

/** Returns how to send a chat with a native request; undefined for other chats. */
export function nativeVia(chat: ChatCall): SendVia | undefined {
  const { request, native } = chat
  if (!native || request.search) return undefined
  return (send, candidate) => {
    const limit = upstreamOutputLimit(request, candidate.model)
    return send(request.body, limit, findNative(chat, candidate)?.request)
  }
}

/** Returns a native response with its cost in USD, which no other field carries. */
export const withNativeCost = (
  { usageName }: NativeChat,
  response: Json,
  charge: NanoUsd,
): Json => ({
  ...response,
  [usageName]: { ...recordOf(response[usageName]), cost: toUsd(charge) },
})

/** Returns whether a response, or an event of a stream, is of a chat and not native. */
export const isOfChat = ({ choices, object, error }: Json): boolean =>
  choices !== undefined || isRecord(error) || String(object).startsWith('chat.')
