import type { AppContext } from '../../server/context.ts'
import type { SendVia } from '../paid/call-upstream.ts'
import type { Candidate, Candidates } from '../paid/candidates.ts'
import type { ChatCall } from './chat-call.ts'
import { upstreamOutputLimit } from './max-cost.ts'
import type { NativeChat } from './native-chat.ts'

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
