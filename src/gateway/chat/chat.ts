import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { publicUrl } from '../../kernel/fetch.ts'
import {
  conversationCharsMax,
  inlineMediaBytesMax,
  pdfsPerRequestMax,
  smallWindowTokens,
} from '../../kernel/limits.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { isRecord, recordOf } from '../../kernel/schema.ts'
import type { HoldRequest } from '../../money/ledger/holds.ts'
import { pay } from '../../money/pay.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import type { ChatRequest, MediaPart } from '../conversation/chat-request.ts'
import type { ChatClient } from '../conversation/codec.ts'
import { countChars, fileIdOf, hasContent, mediaIn } from '../conversation/contents.ts'
import { eventStream } from '../events.ts'
import { invalidField, privateUrlError, readModels, renameFields } from '../fields.ts'
import type { Model, ResolvedModel } from '../models/catalog.ts'
import { estimatePromptTokens } from '../models/tokens.ts'
import { chatBodyOf } from '../openai-chat/chat-body.ts'
import { kindNames } from '../openai-chat/media.ts'
import { type Candidates, findModels, listCandidates } from '../paid/candidates.ts'
import { checkInput } from '../paid/guardrail.ts'
import { holdRequestOf, jsonOutcome, type PaidCall, payForCall } from '../paid/paid-call.ts'
import { readPreferences } from '../paid/preferences.ts'
import { serveCall } from '../paid/serve-call.ts'
import { type ChatCall, createMeter } from './chat-call.ts'
import { chatLimits, chatMaxCost, measureChat, rawBytesOf } from './max-cost.ts'
import { requestStream, requestWhole } from './request.ts'
import { encodeFree, readCacheSlot } from './response-cache.ts'
import { validateSearch } from './search/search-session.ts'
import {
  checkInlinePdfs,
  insertUploads,
  isInlinePdf,
  type PendingTranscription,
  sizeOf,
} from './uploads.ts'

/**
 * Creates the response of a model to a chat (document 2, section 4), in the API of its client:
 * checks it in the order of section 7, holds its maximum cost, serves it whole or as a stream, and
 * settles it. Throws the errors of section 7.
 */
export function createChat(
  ctx: AppContext,
  spender: Spender,
  call: Call,
  { api, raw, names, open }: ChatClient,
): Promise<CallOutcome> {
  let isCached = false
  return payForCall(ctx, spender, call, {
    path: '/chat/completions',
    body: api === 'chat' ? raw : { api, raw },
    present: (value) => present(value, isCached ? { 'x-cache': 'hit' } : {}),
    prepare: async (slot) => {
      const cached = api === 'chat' ? readCacheSlot(ctx, spender.account, raw) : undefined
      const { keep } = cached ?? {}
      const decoded = open()
      const own = decoded.isWritten ? undefined : api
      const chat = await prepareChat({ ...call, ctx, spender, slot, keep, api: own }, decoded)
      const known = cached?.find()
      if (known) {
        isCached = true
        return encodeFree(known, chat.clientOf(known.candidate))
      }
      return {
        maxCost: chatHold(chat),
        run: (running) =>
          serveCall(chat, running, {
            attempt: (upstream, candidate, deadlines) =>
              (chat.isStream ? requestStream : requestWhole)(
                { chat, candidate },
                upstream,
                deadlines,
              ),
            // The prompt of a failed call was used.
            estimateUsage: (candidate) => createMeter({ chat, candidate }).usage(false),
          }),
      }
    },
  }).catch(renameFields(names))
}

function present(value: unknown, headers: Record<string, string>): CallOutcome {
  const { stream } = recordOf(value)
  return typeof stream === 'string' ? eventStream(stream, headers) : jsonOutcome(value, headers)
}

/** A chat call before its checks. */
type UncheckedCall = Omit<PaidCall, 'candidates'> & Pick<ChatCall, 'keep' | 'api'>

/** Makes all checks that precede the check of credits (document 2, section 7). */
async function prepareChat(
  paid: UncheckedCall,
  decoded: ReturnType<ChatClient['open']>,
): Promise<ChatCall> {
  const { ctx, spender } = paid
  const { request: parsed, isStream, ignored } = decoded
  if (!hasContent(parsed.messages)) throw new ApiError('no_usable_messages')
  const modelIds = readModels(decoded.model, decoded.models)
  const preferences = readPreferences(decoded.provider)
  const found = findModels(ctx.catalog, spender, modelIds, 'chat')
  const idsByModel = new Map(found.map(({ model }, at) => [model, modelIds[at]]))
  const resolved = filterFallbacks(parsed, found)
  const models = resolved.map(({ model }) => model)
  const candidates = listCandidates(resolved, preferences, ctx.upstreams, spender)
  const search = decoded.search || resolved.some(({ suffixes }) => suffixes.includes('online'))
  if (search) await validateSearch(ctx, parsed, models, spender.account)
  const [first] = models
  if (first) validateCapabilities(parsed, first)
  await checkInlinePdfs(ctx, parsed)
  const prepared = (request: ChatRequest, transcriptionCost: NanoUsd = zero): ChatCall => {
    // Uploads are text by now.
    if (hasFiles(parsed)) for (const model of models) checkContextWindow(request, model)
    return {
      ...chatCall(paid, request, candidates, search),
      clientOf: ({ model, offer }) =>
        decoded.codec(idsByModel.get(model) ?? model.id, offer.upstream),
      isStream,
      ignored,
      transcriptionCost,
    }
  }
  const guard = (request: ChatRequest) => checkInput(paid, first?.id ?? '', chatBodyOf(request))
  if (ctx.guardrail) await guard(parsed)
  const { request, pending } = await insertUploads(paid, parsed, models)
  // Uploads are text of the request, too.
  if (request !== parsed && ctx.guardrail) await guard(request)
  const chat = prepared(request)
  if (!pending) return chat
  const transcribed = await transcribeUnderHold(ctx, chatHold(chat), pending)
  if (ctx.guardrail) await guard(transcribed.request)
  return prepared(transcribed.request, transcribed.cost)
}

/** Computes the size of a chat and its limits at each model. */
function chatCall(
  paid: UncheckedCall,
  request: ChatRequest,
  candidates: Candidates,
  search: boolean,
): Omit<ChatCall, 'clientOf' | 'isStream' | 'transcriptionCost'> {
  const size = measureChat(request, search, rawBytesOf(paid.ctx, request, candidates))
  const limits = chatLimits(size, candidates)
  // A search changes the conversation, so its rounds are written anew.
  const { raw: _, ...unsent } = request
  return {
    ...paid,
    request: search ? unsent : request,
    size,
    candidates,
    limits,
    requested: size.body,
  }
}

/** Transcribes audio while the least cost of the chat is held, so that the chat can be paid too. */
function transcribeUnderHold(
  ctx: AppContext,
  hold: HoldRequest,
  { files, transcribe }: PendingTranscription,
): ReturnType<PendingTranscription['transcribe']> {
  // Stored holds have this prefix ("sounds" is the old word for audio files), so it never changes.
  const own = { ref: `sounds of ${hold.ref}`, ms: files * hold.ms, onExpiry: 'release' } as const
  return pay(ctx, {
    who: { owner: hold.account },
    prepare: async () => ({
      maxCost: { ...hold, ...own },
      run: async () => ({ result: await transcribe(), charge: zero }),
    }),
  })
}

const chatHold = (chat: ChatCall): HoldRequest => holdRequestOf(chat, chatMaxCost(chat), 'chat')

const fileInputs = ['file', 'audio', 'video']

const hasSmallWindow = ({ contextLength }: Model): boolean =>
  contextLength > 0 && contextLength < smallWindowTokens

/**
 * Checks that a model accepts the contents of a request (document 2, section 7). Throws
 * `conversation_too_long`, `no_image_input`, `no_file_input`, `bad_media`, `too_many_pdfs`,
 * `bad_request`.
 */
function validateCapabilities(request: ChatRequest, model: Model): void {
  const media = mediaIn(request.messages)
  if (hasSmallWindow(model) && countChars(request.messages) > conversationCharsMax) {
    throw new ApiError('conversation_too_long', { max: conversationCharsMax })
  }
  for (const part of media) if (fileIdOf(part) === undefined) validateInline(part, model)
  const pdfs = media.filter(isInlinePdf).length
  if (pdfs > pdfsPerRequestMax) throw new ApiError('too_many_pdfs', { max: pdfsPerRequestMax })
}

/** Returns the model of a request, and those of its fallbacks that accept its contents. */
function filterFallbacks(
  request: ChatRequest,
  [first, ...fallbacks]: ResolvedModel[],
): ResolvedModel[] {
  const isCapable = ({ model }: ResolvedModel): boolean => {
    try {
      validateCapabilities(request, model)
      return true
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
  }
  return first ? [first, ...fallbacks.filter(isCapable)] : []
}

function validateInline(media: MediaPart, { id, inputs }: Model): void {
  const { type, source } = media
  if (!inputs.includes(type)) {
    if (type === 'image') throw new ApiError('no_image_input', { model: id })
    if (type === 'video' && fileInputs.some((input) => inputs.includes(input))) {
      throw new ApiError('bad_media', { code: 'W609', why: `${id} does not accept video.` })
    }
    throw new ApiError('no_file_input', { model: id })
  }
  const kind = kindNames[type]
  if ('data' in source ? source.data === '' : 'url' in source && source.url === '') {
    throw invalidField('messages', `A part of the type ${kind} has no content.`)
  }
  checkUrls(media, kind)
  if (sizeOf(media) > inlineMediaBytesMax) {
    const why = `A part may have at most ${inlineMediaBytesMax} bytes. Upload it with POST /v1/files.`
    throw new ApiError('bad_media', { code: 'W605', why })
  }
}

/** Throws `bad_request` for a URL in a part that may point into the private network. */
function checkUrls({ type, source, extra = {} }: MediaPart, kind: string): void {
  const others = Object.values(extra).flatMap((value) =>
    isRecord(value) ? Object.values(value) : [value],
  )
  const urls = others.filter((value) => typeof value === 'string' && URL.canParse(value))
  if ('url' in source) urls.push(source.url)
  for (const url of urls) {
    if (typeof url !== 'string' || /^data:/i.test(url)) continue
    if (type === 'audio' || !publicUrl(url)) throw privateUrlError('messages', kind)
  }
}

/** Returns whether a request has files, whose text may exceed the window of a model. */
const hasFiles = ({ messages }: ChatRequest): boolean =>
  mediaIn(messages).some(({ type }) => type !== 'image')

/** Throws `window_exceeded` when the text of a request exceeds the model's window. */
function checkContextWindow(request: ChatRequest, { contextLength }: Model): void {
  if (contextLength === 0) return
  const texts = request.messages.map(({ role, content }) => ({
    role,
    content: content.filter(({ type }) => type === 'text'),
  }))
  if (estimatePromptTokens({ messages: texts }, 0) > contextLength) {
    throw new ApiError('window_exceeded', { window: contextLength })
  }
}
