import { sha256 } from '../../../kernel/ids.ts'
import { asString, isRecord } from '../../../kernel/schema.ts'
import { reject } from '../error-body.ts'
import type { SentRequest } from '../upstream.ts'
import { encodeVideoId, parseVideoPath } from '../video-id.ts'
import { encodePng } from './image.ts'
import type { DemoRequest } from './request.ts'

const secondsMax = 20
const framesPerSecond = 2
/** Pixels of the shorter side, whatever the request: a demo video stays small. */
const side = 90

/** The properties of a video. Its id contains them, so that nothing is stored. */
interface DemoVideo {
  /** Hex digits that determine the colors. */
  digits: string
  seconds: number
  width: number
  height: number
}

/** Submits a video of colored squares, the same for the same prompt. It is completed at once. */
export function submitVideo({ model, body, created }: DemoRequest): SentRequest {
  const prompt = asString(body.prompt)
  if (prompt === '') return reject(400, 'prompt is empty.')
  const seconds = Number(body.seconds ?? 4)
  if (!(seconds > 0 && seconds <= secondsMax)) {
    return reject(400, `seconds must be a number of at most ${secondsMax}, as text.`)
  }
  const [, across = 16, down = 9] = /^(\d{1,4})x(\d{1,4})$/.exec(asString(body.size)) ?? []
  const ratio = Math.min(4, Math.max(0.25, Number(across) / Number(down) || 1))
  const video: DemoVideo = {
    digits: sha256(prompt),
    seconds,
    width: Math.round(side * Math.max(1, ratio)),
    height: Math.round(side * Math.max(1, 1 / ratio)),
  }
  const json = {
    id: encodeVideoId(video),
    object: 'video',
    model,
    status: 'queued',
    progress: 0,
    created_at: created,
    seconds: String(seconds),
  }
  return { json }
}

/** Responds to `/videos/<id>` and `/videos/<id>/content`. */
export async function pollVideo(path: string): Promise<SentRequest> {
  const { id, state, isContent } = parseVideoPath(path) ?? {}
  const video = readVideo(state)
  if (!video) return reject(404, 'No such video.')
  if (!isContent) {
    const seconds = String(video.seconds)
    return { json: { id, object: 'video', status: 'completed', progress: 100, seconds } }
  }
  return { file: new Blob([await renderVideo(video)]) }
}

function readVideo(state: unknown): DemoVideo | undefined {
  if (!isRecord(state)) return undefined
  const [seconds, width, height] = [
    Number(state.seconds),
    Number(state.width),
    Number(state.height),
  ]
  const isValid = seconds > 0 && seconds <= secondsMax && Math.max(width, height) <= side * 4
  return isValid ? { digits: asString(state.digits), seconds, width, height } : undefined
}

/** Renders the frames. The squares move on by one color from frame to frame. */
async function renderVideo({ digits, seconds, width, height }: DemoVideo): Promise<Buffer> {
  const count = Math.ceil(seconds * framesPerSecond)
  const frames = Array.from({ length: count }, async (_, at) => {
    const start = at % digits.length
    const png = encodePng(width, height, digits.slice(start) + digits.slice(0, start))
    const webp = await new Bun.Image(png).webp({ quality: 60 }).bytes()
    return { vp8: findVp8(Buffer.from(webp)), at: Math.round((at * 1_000) / framesPerSecond) }
  })
  return encodeWebm(await Promise.all(frames), { ms: seconds * 1_000, width, height })
}

/** Finds the VP8 key frame of a lossy WebP (RFC 9649, section 2.5). */
function findVp8(webp: Buffer): Buffer {
  for (let at = 12; at + 8 <= webp.length;) {
    const size = webp.readUInt32LE(at + 4)
    if (webp.toString('latin1', at, at + 4) === 'VP8 ') return webp.subarray(at + 8, at + 8 + size)
    at += 8 + size + (size % 2)
  }
  throw new Error('The WebP has no VP8 frame.')
}

interface Frame {
  /** A key frame of VP8 (RFC 6386). */
  vp8: Uint8Array
  /** Milliseconds. */
  at: number
}

/** Length in milliseconds; size in pixels. */
interface VideoInfo {
  ms: number
  width: number
  height: number
}

/** Matroska element ids (RFC 9559, section 27.1). */
const ids = {
  ebml: '1a45dfa3',
  docType: '4282',
  docTypeVersion: '4287',
  docTypeReadVersion: '4285',
  segment: '18538067',
  info: '1549a966',
  timestampScale: '2ad7b1',
  duration: '4489',
  muxingApp: '4d80',
  writingApp: '5741',
  tracks: '1654ae6b',
  track: 'ae',
  trackNumber: 'd7',
  trackUid: '73c5',
  trackType: '83',
  codecId: '86',
  video: 'e0',
  pixelWidth: 'b0',
  pixelHeight: 'ba',
  cluster: '1f43b675',
  timestamp: 'e7',
  simpleBlock: 'a3',
}

type Content = string | number | Uint8Array | Uint8Array[]

/** Encodes an element: its id, its length in eight bytes, its content. */
function element(name: keyof typeof ids, content: Content): Buffer {
  const body = encodeContent(content)
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE((1n << 56n) | BigInt(body.length))
  return Buffer.concat([Buffer.from(ids[name], 'hex'), size, body])
}

function encodeContent(content: Content): Uint8Array {
  if (content instanceof Uint8Array) return content
  if (typeof content === 'string') return Buffer.from(content)
  if (Array.isArray(content)) return Buffer.concat(content)
  const number = Buffer.alloc(4)
  number.writeUInt32BE(content)
  return number
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}

/** Encodes a key frame of track 1 with its time in the cluster. */
function encodeBlock({ vp8, at }: Frame): Buffer {
  const head = Buffer.from([0x81, 0, 0, 0x80])
  head.writeInt16BE(at, 1)
  return element('simpleBlock', [head, vp8])
}

/** Encodes VP8 key frames as a WebM of one cluster, at most 32 seconds long. */
export function encodeWebm(frames: Frame[], { ms, width, height }: VideoInfo): Buffer {
  const app = 'berth demo'
  const header = element('ebml', [
    element('docType', 'webm'),
    element('docTypeVersion', 2),
    element('docTypeReadVersion', 2),
  ])
  const info = element('info', [
    element('timestampScale', 1_000_000),
    element('muxingApp', app),
    element('writingApp', app),
    element('duration', double(ms)),
  ])
  const track = element('track', [
    element('trackNumber', 1),
    element('trackUid', 1),
    element('trackType', 1),
    element('codecId', 'V_VP8'),
    element('video', [element('pixelWidth', width), element('pixelHeight', height)]),
  ])
  const cluster = element('cluster', [element('timestamp', 0), ...frames.map(encodeBlock)])
  return Buffer.concat([header, element('segment', [info, element('tracks', [track]), cluster])])
}
