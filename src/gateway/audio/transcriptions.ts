import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Content, text as textContent, withHeaders } from '../../kernel/http/outcome.ts'
import { eventBytesMax, unknownOutputTokens, unknownWindowTokens } from '../../kernel/limits.ts'
import { asString, isRecord, type Json, parseRecord, recordOf } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import {
  bytesOf,
  encodeEvent,
  encodeNamedEvents,
  eventOf,
  EventReader,
  eventStream,
  type StreamEvent,
} from '../events.ts'
import { invalidField } from '../fields.ts'
import type { Form } from '../files/upload.ts'
import type { Model } from '../models/catalog.ts'
import { isTimed, type Price } from '../models/price.ts'
import { estimateTokens } from '../models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../models/usage.ts'
import { type MediaCall, type MediaRequest, runMediaRequest } from '../paid/media.ts'
import { costHeader } from '../paid/paid-call.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import type { StreamOutput } from '../paid/serve-call.ts'
import { failureOfErrorBody, noContent, type UpstreamFailure } from '../paid/upstream-failure.ts'
import { ByteRelay, type ByteSource, openSource } from './byte-relay.ts'
import {
  isSubtitles,
  parseTranscription,
  subtitleTypes,
  toSubtitles,
  type TranscriptionPath,
  type TranscriptionRequest,
} from './transcription-request.ts'

/** Typical bytes per second, for audio of unknown length. */
const bytesPerSecond = 4_000
const tokensPerSecond = 50
const templateTokens = 1_000

/**
 * Transcribes audio (document 2, POST /v1/audio/transcriptions), charged by its actual seconds
 * where the format allows counting them. Throws `bad_request` and the errors of section 7.
 */
export const createTranscription = async (
  ctx: AppContext,
  spender: Spender,
  form: Form,
  call: Call,
  path: TranscriptionPath = '/audio/transcriptions',
) => transcribe(ctx, spender, await parseTranscription(form, path, mustBeWhole(ctx, call)), call)

/**
 * Returns whether the upstream must respond without a stream: a response that is stored for its key
 * has none, and the guardrail checks whole texts.
 */
export const mustBeWhole = (ctx: AppContext, call: Call): boolean =>
  call.idempotencyKey !== undefined || isChecked(ctx)

interface TranscribeOptions {
  /** Identifies the work among several of the same request. */
  part?: string
  /** Writes the events of a stream in the format of another API. */
  convert?: ConvertEvent
}

/** Transcribes parsed input. */
export const transcribe = (
  ctx: AppContext,
  spender: Spender,
  input: TranscriptionRequest,
  call: Call,
  options: TranscribeOptions = {},
) => runMediaRequest(ctx, spender, toMediaRequest(input, isChecked(ctx), options), call)

/** Returns whether the guardrail checks a text before a client gets it. */
const isChecked = ({ guardrail }: AppContext): boolean => guardrail?.checksOutput === true

function toMediaRequest(
  input: TranscriptionRequest,
  isChecked: boolean,
  { part, convert }: TranscribeOptions,
): MediaRequest {
  const { path, models, form, fingerprint, format, isStream } = input
  return {
    path,
    type: 'audio',
    kind: 'transcription',
    modelIds: models,
    body: form,
    fingerprint,
    preferences: readPreferences(undefined),
    part,
    validate: validateModel,
    maxUsage: (to) => {
      const { prompt, completion, seconds } = limitsOf(input, to)
      return { inputTokensMax: prompt, outputTokensMax: completion, seconds }
    },
    estimateUsage: (to) => estimateUsage(input, to),
    async read(received, call) {
      const { candidate, deadlines } = call
      if (isStream && 'response' in received && isEvents(received.response) && !isChecked) {
        const usageOf = (carried: Json & { text: string }): Usage =>
          readTranscriptionUsage(carried, input, candidate)
        return streamTranscription(received.response, call, usageOf, convert)
      }
      const read = await readJsonObject(received, deadlines)
      if (!('json' in read)) return read
      const { text } = read.json
      if (typeof text !== 'string') return noContent
      const seconds = input.seconds ?? input.bytes / bytesPerSecond
      const body = isSubtitles(format)
        ? { text: toSubtitles(read.json, format, seconds) }
        : format === 'verbose_json'
          ? { ...toVerbose(read.json, input), text }
          : { text }
      return {
        usage: readTranscriptionUsage({ ...read.json, text }, input, candidate),
        text: body.text,
        response: (cost) => ({ ...body, cost }),
      }
    },
    async present(body) {
      const { text, cost } = recordOf(body)
      const headers = costHeader(Number(cost))
      if (isStream) return toTranscriptEvents(String(text), { cost }, convert)
      const type = isSubtitles(format) ? subtitleTypes[format] : 'text/plain'
      return isSubtitles(format) || format === 'text'
        ? textContent(type, String(text), headers)
        : withHeaders(body, headers)
    },
  }
}

const isEvents = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

/** Segment fields of OpenAI's model, which most others do not send. */
const segmentDefaults = {
  seek: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
}
/** Undetermined language (ISO 639-2). */
export const undetermined = 'und'

/** Completes OpenAI's verbose format: typed clients reject a response with missing fields. */
function toVerbose(response: Json, { seconds }: TranscriptionRequest): Json {
  const { language, duration, segments } = response
  const complete = (segment: unknown): unknown =>
    isRecord(segment) ? { ...segmentDefaults, ...segment } : segment
  return {
    ...response,
    language: language ?? undetermined,
    duration: duration ?? seconds,
    ...(Array.isArray(segments) && { segments: segments.map(complete) }),
  }
}

/** Throws for a model that is not for transcriptions or whose price does not cover them. */
function validateModel(model: Model): void {
  const { id, outputs } = model
  if (!outputs.includes('text')) {
    throw invalidField('model', `${id} does not transcribe: use POST /v1/audio/speech.`)
  }
  if (!isTranscriptionModel(model)) throw new ApiError('no_price', { model: id })
}

/** Returns whether a model transcribes audio, at a price that covers it. */
export const isTranscriptionModel = ({ outputs, price }: Model): boolean =>
  outputs.includes('text') &&
  price !== undefined &&
  (isTimed(price) || price.completion !== undefined)

/** Returns upper bounds of the usage at a model. */
function limitsOf(input: TranscriptionRequest, { contextLength, maxOutput }: Model) {
  const seconds = input.secondsMax
  const tokens = Math.ceil(seconds * tokensPerSecond) + input.textBytes + templateTokens
  // Where no samples were counted, the bound by bytes would hold far too much.
  const unknownWindow = input.seconds === seconds ? Infinity : unknownWindowTokens
  return {
    seconds,
    prompt: Math.min(tokens, contextLength || unknownWindow),
    completion: maxOutput || unknownOutputTokens,
  }
}

function estimateUsage(input: TranscriptionRequest, model: Model): Usage {
  const seconds = input.seconds ?? input.bytes / bytesPerSecond
  const estimated = input.seconds === undefined
  if (model.price && isTimed(model.price)) return createUsage({ seconds, estimated })
  const { prompt, completion } = limitsOf(input, model)
  return createUsage({ prompt, completion, estimated: true })
}

/** Returns the upstream's usage, with no fewer seconds than the file has, else an estimate. */
function readTranscriptionUsage(
  { usage, duration, text }: Json & { text: string },
  input: TranscriptionRequest,
  { model, price }: { model: Model; price: Price },
): Usage {
  const estimate = estimateUsage(input, model)
  const limits = limitsOf(input, model)
  const reported = readUsage(usage, limits) ?? readUsage({ seconds: duration }, limits)
  const isPlausible =
    reported &&
    (isTimed(price)
      ? reported.seconds > (input.seconds ?? 0)
      : reported.prompt + reported.completion > 0)
  return isPlausible
    ? reported
    : { ...estimate, completion: Math.min(estimate.completion, estimateTokens(text)) }
}

/** The end of a stream whose upstream failed (document 2, section 6). */
const streamError = {
  error: {
    message:
      'The provider failed in the middle of the response. The audio and the text so far were charged.',
    type: 'api_error',
    param: null,
    code: 'upstream_stream_error',
  },
}

/** Converts an event of OpenAI to that of another API; undefined for one that stays as it is. */
export type ConvertEvent = (event: Json) => Json | undefined

const noConversion: ConvertEvent = () => undefined

/** Returns a whole transcription as the events of a stream. */
function toTranscriptEvents(text: string, usage: Json, convert = noConversion): Content {
  const encode = (event: Json) => {
    const converted = convert(event)
    return converted ? encodeNamedEvents([converted]) : encodeEvent(event)
  }
  return eventStream(
    new Blob([
      encode({ type: 'transcript.text.delta', delta: text }),
      encode({ type: 'transcript.text.done', text, usage }),
    ]).stream(),
  )
}

/**
 * Relays the events of an upstream's transcription. `usageOf` counts what was carried, with the
 * usage that the upstream reports.
 */
async function streamTranscription(
  response: Response,
  call: MediaCall,
  usageOf: (response: { text: string } & Json) => Usage,
  convert = noConversion,
): Promise<StreamOutput | UpstreamFailure> {
  const source = await openSource({ response }, call.deadlines)
  if (!('first' in source)) return source
  const events = new TranscriptSource(source, convert)
  if (events.firstError) {
    void source.close()
    return failureOfErrorBody(events.firstError)
  }
  return {
    start({ settled }) {
      const relay = new ByteRelay(events, call, settled)
      const ended = relay.ended.then((end) => ({
        usage: usageOf({ text: events.text, usage: events.usage }),
        end: end === 'completed' && !events.isDone ? 'failed' : end,
      }))
      return { response: eventStream(relay.body()), ended }
    },
  }
}

/** The events of a transcription, read in passing. After an error it ends with the gateway's. */
class TranscriptSource implements ByteSource {
  readonly first: Uint8Array
  text = ''
  usage: unknown
  isDone = false
  firstError: Json | undefined
  private readonly reader = new EventReader(eventBytesMax)
  private isOver = false

  constructor(
    private readonly source: ByteSource,
    private readonly convert: ConvertEvent,
  ) {
    this.first = this.read(source.first)
    if (this.text !== '' || this.isDone) this.firstError = undefined
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.isOver) return undefined
    const chunk = await this.source.next().catch(() => undefined)
    if (chunk) return this.read(chunk)
    this.isOver = true
    return this.isDone ? undefined : encodeEvent(streamError)
  }

  close(): Promise<unknown> {
    return this.source.close()
  }

  private read(chunk: Uint8Array): Uint8Array {
    const passed: StreamEvent[] = []
    for (const event of this.reader.push(chunk)) {
      const sent = parseRecord(event.data ?? '') ?? {}
      const error = this.readEvent(sent)
      if (!error) {
        const converted = this.convert(sent)
        passed.push(converted ? eventOf(encodeNamedEvents([converted])) : event)
        continue
      }
      // The upstream's own words may contain its key.
      this.firstError ??= error
      this.isOver = true
      void this.source.close()
      return Buffer.concat([bytesOf(passed), encodeEvent(streamError)])
    }
    return bytesOf(passed)
  }

  private readEvent({ type, delta, text, usage, error }: Json): Json | undefined {
    if (isRecord(error)) return error
    if (type === 'error') return { message: 'The upstream reported an error.' }
    if (type === 'transcript.text.delta') this.text += asString(delta)
    if (type === 'transcript.text.done') {
      this.isDone = true
      this.text = asString(text) || this.text
      this.usage = usage
    }
    return undefined
  }
}
