import { sha256 } from '../../core/ids.ts'
import { isRecord } from '../../core/schema.ts'
import { asString, errorResponse } from '../response.ts'
import { encodePng } from './image.ts'
import type { DemoRequest } from './request.ts'
import { encodeWebm } from './webm.ts'

const secondsMax = 20
const framesPerSecond = 2
/** The shorter side of what is shown, whatever was asked for: a demo is small. */
const side = 90

/** All that a film is made of: it stands in the film's id, so that nothing is kept. */
interface DemoVideo {
  /** What its colours are read off. */
  digits: string
  seconds: number
  width: number
  height: number
}

/** Begins a film of coloured squares, the same for the same prompt; done when it is looked at. */
export function submitVideo({ model, body, created }: DemoRequest): Response {
  const prompt = asString(body.prompt)
  if (prompt === '') return errorResponse(400, 'prompt is empty.')
  const seconds = Number(body.seconds ?? 4)
  if (!(seconds > 0 && seconds <= secondsMax)) {
    return errorResponse(400, `seconds is a text of a number of at most ${secondsMax}.`)
  }
  const [, across = 16, down = 9] = /^(\d{1,4})x(\d{1,4})$/.exec(asString(body.size)) ?? []
  const ratio = Math.min(4, Math.max(0.25, Number(across) / Number(down) || 1))
  const made: DemoVideo = {
    digits: sha256(prompt),
    seconds,
    width: Math.round(side * Math.max(1, ratio)),
    height: Math.round(side * Math.max(1, 1 / ratio)),
  }
  const id = Buffer.from(JSON.stringify(made)).toString('base64url')
  return Response.json({
    id,
    object: 'video',
    model,
    status: 'queued',
    progress: 0,
    created_at: created,
    seconds: String(seconds),
  })
}

/** `/videos/<id>` and `/videos/<id>/content`. */
export async function pollVideo(path: string): Promise<Response> {
  const [, id = '', content] = /^\/videos\/([\w-]+)(\/content)?$/.exec(path) ?? []
  const made = readFilm(id)
  if (!made) return errorResponse(404, 'There is no such film.')
  if (content === undefined) {
    const seconds = String(made.seconds)
    return Response.json({ id, object: 'video', status: 'completed', progress: 100, seconds })
  }
  const headers = { 'content-type': 'video/webm' }
  return new Response(new Uint8Array(await shoot(made)), { headers })
}

function readFilm(id: string): DemoVideo | undefined {
  try {
    const said: unknown = JSON.parse(Buffer.from(id, 'base64url').toString('utf8'))
    if (!isRecord(said)) return undefined
    const { digits, seconds, width, height } = said
    const [long, wide, high] = [Number(seconds), Number(width), Number(height)]
    const isFilm = long > 0 && long <= secondsMax && Math.max(wide, high) <= side * 4
    return isFilm
      ? { digits: asString(digits), seconds: long, width: wide, height: high }
      : undefined
  } catch {
    return undefined
  }
}

/** The squares move on by one colour from picture to picture. */
async function shoot({ digits, seconds, width, height }: DemoVideo): Promise<Buffer> {
  const count = Math.ceil(seconds * framesPerSecond)
  const frames = Array.from({ length: count }, async (_, at) => {
    const start = at % digits.length
    const picture = encodePng(width, height, digits.slice(start) + digits.slice(0, start))
    const webp = await new Bun.Image(picture).webp({ quality: 60 }).bytes()
    return { vp8: vp8In(Buffer.from(webp)), at: Math.round((at * 1_000) / framesPerSecond) }
  })
  return encodeWebm(await Promise.all(frames), { ms: seconds * 1_000, width, height })
}

/** The VP8 key frame in a lossy WebP (RFC 9649, section 2.5). */
function vp8In(webp: Buffer): Buffer {
  for (let at = 12; at + 8 <= webp.length;) {
    const size = webp.readUInt32LE(at + 4)
    if (webp.toString('latin1', at, at + 4) === 'VP8 ') return webp.subarray(at + 8, at + 8 + size)
    at += 8 + size + (size % 2)
  }
  throw new Error('A WebP without a VP8 frame.')
}
