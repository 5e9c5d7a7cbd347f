import { assetBytesMax, fileBytesMax, jsonDepthMax } from '../kernel/limits.ts'
import { errorCodeOf } from '../kernel/text.ts'
import {
  type AudioInfo,
  readAac,
  readFlac,
  readMp3,
  readOgg,
  readWav,
  withDuration,
} from './audio.ts'
import { readContainer } from './containers.ts'
import { gifProblem, jpegImageProblem, jpegProblem, pngProblem, webpProblem } from './images.ts'
import { jsonProblem } from './json.ts'
import { letters } from './riff.ts'

/** The kind of a file, detected from its bytes. Sizes in pixels, durations in seconds. */
export type FileKind =
  | { kind: 'picture'; type: ImageType; width: number; height: number }
  | { kind: 'sound'; type: AudioType; seconds: number; isClaimed?: true }
  | { kind: 'json'; type: 'application/json' }

type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'
type AudioType = `audio/${'mpeg' | 'ogg' | 'wav' | 'mp4' | 'webm' | 'flac' | 'aac'}`

/** The reason that a file is not accepted, as the end of a sentence. */
export interface Rejected {
  reason: string
}

/** 64 MB of pixels: an image of 8192 x 2048 is accepted, one of 8192 x 8192 is not. */
const imagePixelsMax = 4_096 * 4_096
const imageSideMax = 8_192

/**
 * Detects a file's kind by its content, never by its name (document 1, section 2, Asset). It is
 * strict: the signature is at the first byte, the structure is followed to its end, and the file
 * ends there. This rejects archives and pages appended to an image. HTML in a comment of a valid
 * file cannot be detected, so files are served only with the detected type and nosniff.
 */
export async function detectFileKind(
  bytes: Uint8Array,
  bytesMax = assetBytesMax,
): Promise<FileKind | Rejected> {
  return detect(bytes, bytesMax, jpegProblem)
}

/**
 * Detects the kind of a file that only its account gets back. A JPEG may have any data after its
 * end, and FLAC and AAC are audio too, whose end is not checked.
 */
export async function detectPrivateFileKind(bytes: Uint8Array): Promise<FileKind | Rejected> {
  if (letters(bytes, 0, 4) === 'fLaC') return audioKind('audio/flac', readFlac(bytes))
  if (/^\xff[\xf0\xf1\xf8\xf9]/.test(letters(bytes, 0, 2)))
    return audioKind('audio/aac', readAac(bytes))
  return detect(bytes, fileBytesMax, jpegImageProblem)
}

async function detect(
  bytes: Uint8Array,
  bytesMax: number,
  problemOfJpeg: typeof jpegProblem,
): Promise<FileKind | Rejected> {
  if (bytes.length > bytesMax) return { reason: `it is over ${bytesMax} bytes` }
  if (bytes.length < 1) return { reason: 'it is empty' }
  const mark = letters(bytes, 0, 12)
  if (mark.startsWith('\x89PNG\r\n\x1a\n')) return await imageKind(bytes, 'image/png', pngProblem)
  if (mark.startsWith('\xff\xd8\xff')) return await imageKind(bytes, 'image/jpeg', problemOfJpeg)
  if (/^GIF8[79]a/.test(mark)) return await imageKind(bytes, 'image/gif', gifProblem)
  if (/^RIFF[^]{4}WEBP/.test(mark)) return await imageKind(bytes, 'image/webp', webpProblem)
  if (/^RIFF[^]{4}WAVE/.test(mark)) return audioKind('audio/wav', readWav(bytes))
  if (mark.startsWith('OggS')) return audioKind('audio/ogg', readOgg(bytes))
  if (/^(ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/.test(mark))
    return audioKind('audio/mpeg', readMp3(bytes))
  const media = readContainer(bytes)
  if (media) return containerKind(media)
  return await jsonKind(bytes)
}

async function imageKind(
  bytes: Uint8Array,
  type: ImageType,
  problemOf: (bytes: Uint8Array) => string | undefined,
): Promise<FileKind | Rejected> {
  const problem = problemOf(bytes)
  if (problem) return { reason: problem }
  try {
    const { width, height, format } = await new Bun.Image(bytes, {
      maxPixels: imagePixelsMax,
    }).metadata()
    if (`image/${format}` !== type) return { reason: 'the image cannot be decoded' }
    if (Math.max(width, height) > imageSideMax) return tooManyPixels
    return { kind: 'picture', type, width, height }
  } catch (error) {
    const isBig = /TOO_MANY/.test(errorCodeOf(error))
    return isBig ? tooManyPixels : { reason: 'the image cannot be decoded' }
  }
}

const tooManyPixels: Rejected = {
  reason: `an image may have at most ${imageSideMax} pixels per side and ${imagePixelsMax} in total`,
}

const audioKind = (type: AudioType, info: AudioInfo): FileKind | Rejected =>
  'problem' in info ? { reason: info.problem } : { kind: 'sound', type, ...info }

/** Returns the kind of audio in a container that ends where its structure ends. */
function containerKind(media: NonNullable<ReturnType<typeof readContainer>>): FileKind | Rejected {
  if ('reason' in media) return media
  const { kind, container, seconds, isWhole } = media
  if (kind === 'video' || container === 'x-matroska') return { reason: accepted }
  if (!isWhole) return { reason: 'the file is cut off, or there is data after its end' }
  const info = withDuration(seconds ?? 0)
  return audioKind(`audio/${container}`, 'seconds' in info ? { ...info, isClaimed: true } : info)
}

async function jsonKind(bytes: Uint8Array): Promise<FileKind | Rejected> {
  const problem = await jsonProblem(bytes)
  if (!problem) return { kind: 'json', type: 'application/json' }
  if (problem === 'depth')
    return { reason: `JSON may be nested at most ${jsonDepthMax} levels deep` }
  return { reason: accepted }
}

const accepted =
  'only PNG, JPEG, WebP, GIF, MP3, Ogg, WAV, M4A, WebM audio and JSON are accepted; ' +
  'send CSV and other text as a JSON string'
