import type { AppContext } from '../../context.ts'
import { recordOf } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import {
  promptCharsMax,
  speechCharsMax,
  speechKeptMs,
  upstreamAnswerBytesMax,
} from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { isTimed } from '../../models/price.ts'
import { maxInputTokens } from '../../models/tokens.ts'
import { createUsage, type Usage } from '../../models/usage.ts'
import { detectFileKind } from '../../storage/file-kind.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { findEnum, findString, invalidField, readModels, readString } from '../fields.ts'
import * as made from '../media-files/media-files.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import type { MediaCall, MediaOutput, MediaRequest } from '../paid/media.ts'
import { runMediaRequest } from '../paid/media.ts'
import { costHeader } from '../paid/paid-call.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import {
  interruptionOf,
  noContent,
  unreadable,
  type UpstreamFailure,
} from '../paid/upstream-failure.ts'
import { ByteRelay, type ByteSource, openSource } from './byte-relay.ts'

const types = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  ogg: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
} as const
export const speechFormats = ['mp3', 'wav', 'opus', 'ogg', 'aac', 'flac', 'pcm'] as const

/** How long a character is spoken, at most and as our own count has it. */
const secondsPerCharacter = { most: 1, own: 0.1 }

/** A sound, whole. */
interface Sound {
  bytes: Uint8Array<ArrayBuffer>
  type: string
}

/**
 * A text as speech (document 2, POST /v1/audio/speech): passed on as it comes where its price is
 * known before; whole where it is paid by the second, or will be given again. Refuses bad_request
 * and what section 7 says.
 */
export const synthesizeSpeech = (ctx: AppContext, spender: Spender, raw: unknown, call: Call) =>
  runMediaRequest(ctx, spender, readWanted(ctx, raw), call)

function readWanted(ctx: AppContext, raw: unknown): MediaRequest {
  const { model, models, provider, stream: _, format, ...sent } = recordOf(raw)
  const modelIds = readModels(model, models)
  const input = readString(sent, 'input', speechCharsMax)
  findString(sent, 'voice', promptCharsMax)
  findEnum(sent, 'stream_format', ['audio'])
  const wanted = readFormat({ ...sent, format })
  const body = { ...sent, response_format: wanted }
  const characters = [...input].length
  const uses = (seconds: number): Usage =>
    createUsage({ characters, seconds: characters * seconds, estimated: true })
  let fresh: Sound | undefined
  return {
    path: '/audio/speech',
    type: 'audio',
    kind: 'speech',
    modelIds,
    body,
    fingerprint: raw,
    preferences: readPreferences(provider),
    validate: checkSpeaks,
    maxUsage: () => ({
      ...uses(secondsPerCharacter.most),
      inputTokensMax: maxInputTokens(body, 0),
      outputTokensMax: 0,
    }),
    estimateUsage: () => uses(secondsPerCharacter.own),
    async read(response, serving): Promise<MediaOutput | UpstreamFailure> {
      const opened = await open(response, wanted, serving.deadlines)
      if (!('source' in opened)) return opened
      const { source, type } = opened
      if (!serving.isReplayable && !isTimed(serving.candidate.price)) {
        return passOn(source, type, createUsage({ characters }), serving)
      }
      const bytes = await wholeOf(source)
      if (!bytes) return interruptionOf(serving.deadlines)
      fresh = { bytes, type }
      const row = serving.isReplayable
        ? await made.store(ctx, { ...fresh, forMs: speechKeptMs })
        : null
      return {
        usage: await usageIn(bytes, uses(secondsPerCharacter.own)),
        record: (db) => made.insert(db, row ? [row] : []),
        response: (cost) => ({ status: 200, body: { made: row?.id, cost } }),
      }
    },
    async present({ body: answer }) {
      const { made: id, cost } = recordOf(answer)
      const sound = fresh ?? (await made.find(ctx, String(id)))
      if (!sound)
        throw new ApiError('not_found', { what: 'speech of this Idempotency-Key any more' })
      return soundResponse(sound.bytes, sound.type, Number(cost))
    },
  }
}

function readFormat(sent: Record<string, unknown>): (typeof speechFormats)[number] {
  const format = findEnum(sent, 'format', speechFormats)
  const other = findEnum(sent, 'response_format', speechFormats)
  if (format === undefined || other === undefined || format === other) {
    return format ?? other ?? 'mp3'
  }
  throw invalidField('format', 'format and response_format are the same; send one of them.')
}

/** Refuses a model that does not speak, and one with a price that its sound cannot be paid by. */
function checkSpeaks({ id, outputs, price }: Model): void {
  if (!outputs.includes('audio')) {
    throw invalidField('model', `${id} does not speak: use POST /v1/audio/transcriptions.`)
  }
  const isPriced = price && (price.perCharacter !== undefined || isTimed(price))
  if (!isPriced) throw new ApiError('no_price', { model: id })
}

type Opened = { source: ByteSource; type: string }

/** Waits for the first bytes of a sound. */
async function open(
  response: Response,
  format: (typeof speechFormats)[number],
  watch: CallDeadlines,
): Promise<Opened | UpstreamFailure> {
  const [said = ''] = (response.headers.get('content-type') ?? '').toLowerCase().split(';')
  if (said === 'application/json') {
    const read = await readJsonObject(response, watch)
    return 'answer' in read ? unreadable : read
  }
  const isSound = /^audio\/[a-z0-9.+-]{1,60}$/.test(said)
  if (!isSound && said !== '' && said !== 'application/octet-stream') return unreadable
  const source = await openSource(response, watch).catch(() => 'broken' as const)
  if (source === 'broken' || watch.cause) return interruptionOf(watch)
  return source ? { source, type: isSound ? said : types[format] } : noContent
}

function passOn(source: ByteSource, type: string, usage: Usage, serving: MediaCall): MediaOutput {
  const relay = new ByteRelay(source, serving)
  return {
    usage,
    response: () => ({ status: 200, body: null }),
    stream: {
      response: (cost) => soundResponse(relay.body(), type, cost),
      ended: relay.ended,
    },
  }
}

/** Undefined when it broke off, or has more bytes than any answer has. */
async function wholeOf({ first, next }: ByteSource): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for (let part: Uint8Array | undefined = first; part; part = await next()) {
      bytes += part.byteLength
      if (bytes > upstreamAnswerBytesMax) return undefined
      parts.push(part)
    }
  } catch {
    return undefined
  }
  return new Uint8Array(Buffer.concat(parts))
}

/** Its real seconds where they can be heard out of the bytes, else our own count. */
async function usageIn(bytes: Uint8Array, own: Usage): Promise<Usage> {
  const told = await detectFileKind(bytes, upstreamAnswerBytesMax)
  if (!('kind' in told) || told.kind !== 'sound') return own
  return { ...own, seconds: told.seconds, estimated: false }
}

/** A sound to be heard or saved, never shown as a page. */
const soundResponse = (
  body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | Blob,
  type: string,
  cost: number,
): Response =>
  new Response(body, {
    headers: {
      'content-type': type,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...costHeader(cost),
    },
  })
