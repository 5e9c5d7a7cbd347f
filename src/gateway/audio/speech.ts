import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { Content } from '../../kernel/http/outcome.ts'
import {
  promptCharsMax,
  speechCharsMax,
  speechKeptMs,
  upstreamResponseBytesMax,
} from '../../kernel/limits.ts'
import { toUsd } from '../../kernel/money.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import { detectFileKind } from '../../store/file-kind.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { encodeEvent, eventStream } from '../events.ts'
import { findEnum, findString, invalidField, readModels, readString } from '../fields.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import type { Model } from '../models/catalog.ts'
import { isTimed } from '../models/price.ts'
import { estimateTokens, maxInputTokens } from '../models/tokens.ts'
import { createUsage, type Usage } from '../models/usage.ts'
import { type MediaCall, type MediaRequest, runMediaRequest } from '../paid/media.ts'
import { costHeader } from '../paid/paid-call.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readFile, readJsonObject, type ReceivedFile } from '../paid/response-body.ts'
import type { StreamOutput } from '../paid/serve-call.ts'
import {
  interruptionOf,
  noContent,
  unreadable,
  type UpstreamFailure,
} from '../paid/upstream-failure.ts'
import { ByteRelay, openSource } from './byte-relay.ts'

const mediaTypes = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  ogg: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
} as const
export const speechFormats = ['mp3', 'wav', 'opus', 'ogg', 'aac', 'flac', 'pcm'] as const
type SpeechFormat = (typeof speechFormats)[number]

const secondsPerCharacter = { max: 1, estimate: 0.1 }

/** The next step after `speechKeptMs`, when no replay is stored. */
const seeExpired = 'It is no longer stored. Send a new Idempotency-Key.'

/**
 * Synthesizes speech (document 2, POST /v1/audio/speech). It streams when the price is known
 * before; it buffers speech that is charged by the second or stored for a repeated request. Throws
 * `bad_request` and the errors of section 7.
 */
export const synthesizeSpeech = (ctx: AppContext, spender: Spender, body: unknown, call: Call) =>
  runMediaRequest(ctx, spender, readRequest(ctx, body), call)

function readRequest(ctx: AppContext, sent: unknown): MediaRequest {
  const { model, models, provider, stream: _, format: formatField, ...params } = recordOf(sent)
  const modelIds = readModels(model, models)
  const input = readString(params, 'input', speechCharsMax)
  findString(params, 'voice', promptCharsMax)
  const isEvents = findEnum(params, 'stream_format', ['audio', 'sse']) === 'sse'
  const format = readFormat({ ...params, format: formatField })
  const body = { ...params, stream_format: undefined, response_format: format }
  const present = isEvents ? eventsPresenter(input) : audioContent
  const characters = [...input].length
  const usageAt = (seconds: number): Usage =>
    createUsage({ characters, seconds: characters * seconds, estimated: true })
  const estimate = usageAt(secondsPerCharacter.estimate)
  let audio: { bytes: Uint8Array<ArrayBuffer>; type: string } | undefined
  return {
    path: '/audio/speech',
    type: 'audio',
    kind: 'speech',
    modelIds,
    body,
    fingerprint: sent,
    preferences: readPreferences(provider),
    validate: validateModel,
    maxUsage: () => ({
      ...usageAt(secondsPerCharacter.max),
      inputTokensMax: maxInputTokens(body, 0),
      outputTokensMax: 0,
    }),
    estimateUsage: () => estimate,
    async read(received, call) {
      if ('json' in received) return unreadable
      const type = await readMediaType(received, format, call)
      if (typeof type !== 'string') return type
      if (!call.isReplayable && !isTimed(call.candidate.price)) {
        return streamSpeech(received, call, createUsage({ characters }), (bytes, cost) =>
          present(bytes, type, cost),
        )
      }
      const bytes = await readFile(received, call.deadlines)
      if (!bytes) return interruptionOf(call.deadlines)
      if (bytes.byteLength === 0) return noContent
      audio = { bytes: new Uint8Array(bytes), type }
      const row = call.isReplayable
        ? await mediaFiles.store(ctx, { ...audio, forMs: speechKeptMs })
        : undefined
      return {
        usage: await measureUsage(bytes, estimate),
        rows: row ? [mediaFiles.mediaFileRow.create(ctx, row)] : [],
        response: (cost) => ({ made: row?.id, cost }),
      }
    },
    async present(result) {
      const { made: id, cost } = recordOf(result)
      const content = audio ?? (await mediaFiles.find(ctx, String(id)))
      if (!content) throw new ApiError('not_found', { what: 'speech', see: seeExpired })
      return present(content.bytes, content.type, Number(cost))
    },
  }
}

function readFormat(params: Json): SpeechFormat {
  const format = findEnum(params, 'format', speechFormats)
  const alias = findEnum(params, 'response_format', speechFormats)
  if (format === undefined || alias === undefined || format === alias) {
    return format ?? alias ?? 'mp3'
  }
  throw invalidField('format', 'format and response_format differ. Send one of them.')
}

/** Throws for a model that is not for speech or whose price does not cover speech. */
function validateModel({ id, outputs, price }: Model): void {
  if (!outputs.includes('audio')) {
    throw invalidField('model', `${id} transcribes audio: use POST /v1/audio/transcriptions.`)
  }
  const isPriced = price && (price.perCharacter !== undefined || isTimed(price))
  if (!isPriced) throw new ApiError('no_price', { model: id })
}

/** Returns the media type of an audio response, or a failure for any other response. */
async function readMediaType(
  received: ReceivedFile,
  format: SpeechFormat,
  { deadlines }: MediaCall,
): Promise<string | UpstreamFailure> {
  const sent = 'file' in received ? received.file.type : typeOf(received.response)
  const [type = ''] = sent.toLowerCase().split(';')
  if (type === 'application/json') {
    const read = await readJsonObject(received, deadlines)
    return 'json' in read ? unreadable : read
  }
  if (/^audio\/[a-z0-9.+-]{1,60}$/.test(type)) return type
  return type === '' || type === 'application/octet-stream' ? mediaTypes[format] : unreadable
}

const typeOf = ({ headers }: Response): string => headers.get('content-type') ?? ''

async function streamSpeech(
  received: ReceivedFile,
  call: MediaCall,
  usage: Usage,
  present: (bytes: AudioBody, cost: number) => Content,
): Promise<StreamOutput | UpstreamFailure> {
  const source = await openSource(received, call.deadlines)
  if (!('first' in source)) return source
  return {
    start({ chargeOf, settled }) {
      const relay = new ByteRelay(source, call, settled)
      const response = present(relay.body(), toUsd(chargeOf(usage)))
      return { response, ended: relay.ended.then((end) => ({ usage, end })) }
    },
  }
}

/** Returns the usage with the seconds of the audio, when its format has them, else the estimate. */
async function measureUsage(bytes: Uint8Array, estimate: Usage): Promise<Usage> {
  const file = await detectFileKind(bytes, upstreamResponseBytesMax)
  if (!('kind' in file) || file.kind !== 'sound') return estimate
  return { ...estimate, seconds: file.seconds, estimated: false }
}

type AudioBody = ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | Blob

/** Returns the function that presents audio as OpenAI's events, the last of which has the usage. */
function eventsPresenter(input: string): typeof audioContent {
  const tokens = estimateTokens(input)
  return (body, _type, cost) => {
    const usage = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens, cost }
    const bytes = body instanceof ReadableStream ? body : new Blob([body]).stream()
    return eventStream(toSpeechEvents(bytes, usage), costHeader(cost))
  }
}

const audioContent = (body: AudioBody, type: string, cost: number): Content =>
  new Content(body, {
    'content-type': type,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...costHeader(cost),
  })

const encodeDelta = (bytes: Uint8Array): Uint8Array =>
  encodeEvent({ type: 'speech.audio.delta', audio: Buffer.from(bytes).toString('base64') })

/**
 * Converts audio into the events of OpenAI's `stream_format: "sse"`. A stream that breaks off has
 * no `speech.audio.done`.
 */
const toSpeechEvents = (
  audio: ReadableStream<Uint8Array>,
  usage: Json,
): ReadableStream<Uint8Array> =>
  audio.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, out) => out.enqueue(encodeDelta(bytes)),
      flush: (out) => out.enqueue(encodeEvent({ type: 'speech.audio.done', usage })),
    }),
  )
