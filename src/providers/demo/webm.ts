/** One frame of a video. */
export interface Frame {
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
