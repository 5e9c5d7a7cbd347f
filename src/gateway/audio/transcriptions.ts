import type { AppContext } from '../../context.ts'
import { isRecord, recordOf } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import { unknownOutputTokens, unknownWindowTokens } from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { isTimed, type Price } from '../../models/price.ts'
import { estimateTokens } from '../../models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../../models/usage.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { invalidField } from '../fields.ts'
import type { MediaOutput, MediaRequest } from '../paid/media.ts'
import { runMediaRequest } from '../paid/media.ts'
import { costHeader } from '../paid/paid-call.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { noContent, type UpstreamFailure } from '../paid/upstream-failure.ts'
import { readTranscriptionRequest, type TranscriptionRequest } from './transcription-request.ts'

/** Of sounds that do not tell their length. */
const bytesPerSecondCommon = 4_000
const tokensPerSecond = 50
const frameTokens = 1_000

/**
 * What is said in a sound (document 2, POST /v1/audio/transcriptions): paid by its real seconds
 * where its samples can be counted. Refuses bad_request and what section 7 says.
 */
export const createTranscription = async (
  ctx: AppContext,
  spender: Spender,
  request: Request,
  call: Call,
) => transcribe(ctx, spender, await readTranscriptionRequest(request), call)

/** The same for a sound that was read. `part`: which of its request's, where there are several. */
export const transcribe = (
  ctx: AppContext,
  spender: Spender,
  asked: TranscriptionRequest,
  call: Call,
  part?: string,
) => runMediaRequest(ctx, spender, wantedOf(asked, part), call)

function wantedOf(asked: TranscriptionRequest, part: string | undefined): MediaRequest {
  const { models, form, same, format } = asked
  return {
    path: '/audio/transcriptions',
    type: 'audio',
    kind: 'transcription',
    modelIds: models,
    body: form,
    fingerprint: same,
    preferences: readPreferences(undefined),
    part,
    validate: checkListens,
    maxUsage: (to) => {
      const { prompt, completion, seconds } = limitsOf(asked, to)
      return { inputTokensMax: prompt, outputTokensMax: completion, seconds }
    },
    estimateUsage: (to) => ownOf(asked, to),
    async read(
      response,
      { candidate: by, deadlines: watch },
    ): Promise<MediaOutput | UpstreamFailure> {
      const read = await readJsonObject(response, watch)
      if (!('answer' in read)) return read
      const { text } = read.answer
      if (typeof text !== 'string') return noContent
      const body = format === 'verbose_json' ? { ...detailed(read.answer, asked), text } : { text }
      return {
        usage: usageIn({ ...read.answer, text }, asked, by),
        response: (cost) => ({ status: 200, body: { ...body, cost } }),
      }
    },
    async present({ body }) {
      const { text, cost } = recordOf(body)
      const headers = costHeader(Number(cost))
      return format === 'text'
        ? new Response(String(text), { headers })
        : Response.json(body, { headers })
    },
  }
}

/** What OpenAI's own model tells of a segment, and most others do not. */
const untold = {
  seek: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
}
/** Of a language that is not told (ISO 639-2). */
const undetermined = 'und'

/** In OpenAI's shape: a typed client reads no answer in which a field of it is missing. */
function detailed(
  answer: Record<string, unknown>,
  { seconds }: TranscriptionRequest,
): Record<string, unknown> {
  const { language, duration, segments } = answer
  const filled = (segment: unknown): unknown =>
    isRecord(segment) ? { ...untold, ...segment } : segment
  return {
    ...answer,
    language: language ?? undetermined,
    duration: duration ?? seconds,
    ...(Array.isArray(segments) && { segments: segments.map(filled) }),
  }
}

/** Refuses a model that does not listen, and one with a price that a sound cannot be paid by. */
function checkListens(model: Model): void {
  const { id, outputs } = model
  if (!outputs.includes('text')) {
    throw invalidField('model', `${id} does not listen: use POST /v1/audio/speech.`)
  }
  if (!isTranscriptionModel(model)) throw new ApiError('no_price', { model: id })
}

/** Whether a model listens, at a price that a sound can be paid by. */
export const isTranscriptionModel = ({ outputs, price }: Model): boolean =>
  outputs.includes('text') &&
  price !== undefined &&
  (isTimed(price) || price.completion !== undefined)

/** The most a sound can use at a model. */
function limitsOf(asked: TranscriptionRequest, { contextLength, maxOutput }: Model) {
  const seconds = asked.secondsMax
  const tokens = Math.ceil(seconds * tokensPerSecond) + asked.textBytes + frameTokens
  // Of a sound whose length is not known, the fewest bytes of a second bound nothing worth a hold.
  const unknownWindow = asked.seconds === undefined ? unknownWindowTokens : Infinity
  return {
    seconds,
    prompt: Math.min(tokens, contextLength || unknownWindow),
    completion: maxOutput || unknownOutputTokens,
  }
}

function ownOf(asked: TranscriptionRequest, model: Model): Usage {
  const most = limitsOf(asked, model)
  const seconds = asked.seconds ?? asked.bytes / bytesPerSecondCommon
  const estimated = asked.seconds === undefined
  if (model.price && isTimed(model.price)) return createUsage({ seconds, estimated })
  return createUsage({ prompt: most.prompt, completion: most.completion, estimated: true })
}

/** As the upstream says, but no fewer seconds than the file does; else our own count. */
function usageIn(
  { usage, duration, text }: Record<string, unknown> & { text: string },
  asked: TranscriptionRequest,
  { model, price }: { model: Model; price: Price },
): Usage {
  const counted = ownOf(asked, model)
  const own = { ...counted, completion: Math.min(counted.completion, estimateTokens(text)) }
  const limits = limitsOf(asked, model)
  const told = readUsage(usage, limits) ?? readUsage({ seconds: duration }, limits)
  const isTold =
    told &&
    (isTimed(price) ? told.seconds > (asked.seconds ?? 0) : told.prompt + told.completion > 0)
  return isTold ? told : own
}
