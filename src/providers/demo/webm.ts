/** One picture of a film and when it is shown, in milliseconds. */
export interface Frame {
  /** A key frame of VP8 (RFC 6386). */
  vp8: Uint8Array
  at: number
}

/** What is said of a film beside its pictures. Milliseconds; pixels. */
interface About {
  ms: number
  width: number
  height: number
}

/** Matroska's element ids (RFC 9559, section 27.1). */
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

/** An element: its id, its length in eight bytes, its content. */
function element(name: keyof typeof ids, content: Content): Buffer {
  const body = bytesOf(content)
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE((1n << 56n) | BigInt(body.length))
  return Buffer.concat([Buffer.from(ids[name], 'hex'), size, body])
}

function bytesOf(content: Content): Uint8Array {
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

/** Track 1, the time within the cluster, and that it is a key frame. */
function block({ vp8, at }: Frame): Buffer {
  const head = Buffer.from([0x81, 0, 0, 0x80])
  head.writeInt16BE(at, 1)
  return element('simpleBlock', [head, vp8])
}

/** A WebM of VP8 key frames in one cluster: at most 32 seconds. */
export function encodeWebm(frames: Frame[], { ms, width, height }: About): Buffer {
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
  const cluster = element('cluster', [element('timestamp', 0), ...frames.map(block)])
  return Buffer.concat([header, element('segment', [info, element('tracks', [track]), cluster])])
}
