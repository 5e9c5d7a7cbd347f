import { type NanoUsd, zero } from '../../kernel/money.ts'
import { recordOf } from '../../kernel/schema.ts'
import type { StoredResponse } from '../../money/idempotency/idempotency.ts'
import type { HoldRequest } from '../../money/ledger/holds.ts'
import { withHold } from '../../money/ledger/paid-work.ts'
import type { AppContext } from '../../server/context.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { streamResponse } from '../events.ts'
import { renameFields } from '../fields.ts'
import { serveCall } from '../paid/call-upstream.ts'
import { type Candidates, findModels, listCandidates } from '../paid/candidates.ts'
import { checkInput } from '../paid/guardrail.ts'
import { holdRequestOf, jsonResponse, respondToPaidCall } from '../paid/paid-call.ts'
import { checkContextWindow, filterFallbacks, validateCapabilities } from './capabilities.ts'
import type { ChatCall } from './chat-call.ts'
import { completionWork } from './complete.ts'
import { chatLimits, chatMaxCost } from './max-cost.ts'
import type { NativeChat } from './native-chat.ts'
import { countNativeBytes } from './native.ts'
import { type ChatRequest, parseChatRequest, type PreparedChat, sentNames } from './request.ts'
import { type CacheSlot, freeOfCharge, readCacheSlot } from './response-cache.ts'
import { validateSearch } from './search/tool.ts'
import { serveStream } from './stream.ts'
import { checkInlinePdfs, insertUploads, type PendingTranscription } from './uploads.ts'

/**
 * Creates a chat completion (document 2, POST /chat/completions): checks it in the order of section
 * 7, holds its maximum cost, serves it whole or as a stream, and settles it. `native`: the same
 * request for upstreams of another API. Throws the errors of section 7.
 */
export function createChatCompletion(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
  native?: NativeChat,
): Promise<Response> {
  let isCached = false
  return respondToPaidCall(ctx, spender, call, {
    path: '/chat/completions',
    // A native response cannot be replayed to a client of chats.
    body: native ? { chat: raw, api: native.kind } : raw,
    present: (result) => (isCached ? presentCached(result) : present(result)),
    prepare: async (slot) => {
      const cached = native ? undefined : readCacheSlot(ctx, spender.account, raw)
      const keep = cached && ((response: StoredResponse) => keepResponse(ctx, cached, response))
      const paid = { ...call, ctx, spender, slot, native, keep }
      const chat = await prepareChat(paid, raw)
      const known = cached && ctx.state.responseCache.get(cached.key)
      if (known) {
        isCached = true
        return { start: () => Promise.resolve(freeOfCharge(known)) }
      }
      const { isStream } = chat.request
      return {
        hold: chatHold(chat),
        run: (running) =>
          isStream ? serveStream(chat, running) : serveCall(chat, running, completionWork(chat)),
      }
    },
  }).catch(renameFields(sentNames(raw)))
}

const keepResponse = (
  { state }: AppContext,
  { key, ttlMs }: CacheSlot,
  response: StoredResponse,
): void => state.responseCache.set(key, response, ttlMs)

function presentCached(result: StoredResponse): Response {
  const response = present(result)
  response.headers.set('x-cache', 'hit')
  return response
}

function present(result: StoredResponse): Response {
  const { stream } = recordOf(result.body)
  return typeof stream === 'string' ? streamResponse(stream) : jsonResponse(result)
}

/** Makes all checks that precede the check of credits (document 2, section 7). */
async function prepareChat(
  paid: Omit<ChatCall, 'request' | 'transcriptionCost' | 'candidates' | 'limits'>,
  raw: unknown,
): Promise<ChatCall> {
  const { ctx, spender } = paid
  const developerRole = ctx.config.gatewayDeveloperRole === 'system' ? 'system' : undefined
  const parsed = parseChatRequest(raw, developerRole)
  const resolved = filterFallbacks(
    parsed,
    findModels(ctx.catalog, spender, parsed.modelIds, 'chat'),
  )
  const models = resolved.map(({ model }) => model)
  const candidates = listCandidates(resolved, parsed.preferences, ctx.upstreams)
  const search = parsed.search || resolved.some(({ suffixes }) => suffixes.includes('online'))
  if (search) await validateSearch(ctx, parsed, models, spender.account)
  const [first] = models
  if (first) validateCapabilities(parsed, first)
  await checkInlinePdfs(ctx, parsed)
  const nativeBytes = countNativeBytes(ctx, paid.native, candidates)
  const guard = ({ body }: ChatRequest) => checkInput(paid, first?.id ?? '', body)
  await guard(parsed)
  const prepare = (request: ChatRequest): PreparedChat => {
    for (const model of models) checkContextWindow(request, model)
    const { body, isStream, wantsUsage, choices, outputMax, hasFunctions } = request
    const options = { isStream, wantsUsage, hasFunctions }
    return { body, choices, outputMax, search, nativeBytes, ...options }
  }
  const { request, pending } = await insertUploads(paid, parsed, models)
  // Uploads are text of the request, too.
  if (request !== parsed) await guard(request)
  if (request === parsed) return chatCall(paid, prepare(request), candidates, zero)
  // Only the translated request contains the uploads.
  const translated = { ...paid, native: undefined }
  const chat = chatCall(translated, prepare(request), candidates, zero)
  if (!pending) return chat
  const transcribed = await transcribeUnderHold(ctx, chatHold(chat), pending)
  await guard(transcribed.request)
  return chatCall(translated, prepare(transcribed.request), candidates, transcribed.cost)
}

const chatCall = (
  paid: Omit<ChatCall, 'request' | 'transcriptionCost' | 'candidates' | 'limits'>,
  request: PreparedChat,
  candidates: Candidates,
  transcriptionCost: NanoUsd,
): ChatCall => {
  const limits = chatLimits(request, candidates)
  return { ...paid, request, candidates, limits, transcriptionCost, requested: request.body }
}

/** Transcribes audio while the least cost of the chat is held, so that the chat can be paid too. */
async function transcribeUnderHold(
  ctx: AppContext,
  hold: HoldRequest,
  { files, transcribe }: PendingTranscription,
) {
  // Stored holds have this prefix ("sounds" is the old word for audio files), so it never changes.
  const request: HoldRequest = { ...hold, ref: `sounds of ${hold.ref}`, ms: files * hold.ms }
  const { result } = await withHold(ctx, { ...request, onExpiry: 'release' }, async () => ({
    result: await transcribe(),
    charge: zero,
  }))
  return result
}

const chatHold = (chat: ChatCall): HoldRequest => holdRequestOf(chat, chatMaxCost(chat), 'chat')
