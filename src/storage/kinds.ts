import { errorCodeOf } from '../core/text.ts'
import { assetBytesMax, jsonDepthMax } from '../limits.ts'
import { type Heard, hearMp3, hearOgg, hearWav } from './audio.ts'
import { gifFault, jpegFault, pngFault, webpFault } from './images.ts'
import { jsonFault } from './json.ts'
import { letters } from './riff.ts'

/** What a file is, told by its bytes. Pixels; seconds to the millisecond, counted or claimed. */
export type FileKind =
  | { kind: 'picture'; type: PictureType; width: number; height: number }
  | { kind: 'sound'; type: SoundType; seconds: number; isClaimed?: true }
  | { kind: 'json'; type: 'application/json' }

type PictureType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'
type SoundType = 'audio/mpeg' | 'audio/ogg' | 'audio/wav'

/** Why a file is none of the kinds that are kept, as the end of a sentence. */
export interface Unfit {
  unfit: string
}

/** A picture of 8192 x 2048 fits, one of 8192 x 8192 does not: 64 MB of pixels at most. */
const picturePixelsMax = 4_096 * 4_096
const pictureSideMax = 8_192

/**
 * Tells a file's type by its content, never by its name (document 1 section 2, Asset). Strict on
 * purpose: the format's mark stands at the first byte, its own structure is followed to its end,
 * and the file ends there. So archives and pages hung behind or before a picture are refused. What
 * hides inside a well-formed file (a comment that is HTML) cannot be told from a comment: against
 * that, files are only ever served with the type found here and nosniff.
 */
export async function kindOf(
  bytes: Uint8Array,
  bytesMax = assetBytesMax,
): Promise<FileKind | Unfit> {
  if (bytes.length > bytesMax) return { unfit: `it is over ${bytesMax} bytes` }
  if (bytes.length < 1) return { unfit: 'it is empty' }
  const mark = letters(bytes, 0, 12)
  if (mark.startsWith('\x89PNG\r\n\x1a\n')) return await picture(bytes, 'image/png', pngFault)
  if (mark.startsWith('\xff\xd8\xff')) return await picture(bytes, 'image/jpeg', jpegFault)
  if (/^GIF8[79]a/.test(mark)) return await picture(bytes, 'image/gif', gifFault)
  if (/^RIFF[^]{4}WEBP/.test(mark)) return await picture(bytes, 'image/webp', webpFault)
  if (/^RIFF[^]{4}WAVE/.test(mark)) return sound('audio/wav', hearWav(bytes))
  if (mark.startsWith('OggS')) return sound('audio/ogg', hearOgg(bytes))
  if (/^(ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/.test(mark)) return sound('audio/mpeg', hearMp3(bytes))
  return await json(bytes)
}

async function picture(
  bytes: Uint8Array,
  type: PictureType,
  faultOf: (bytes: Uint8Array) => string | undefined,
): Promise<FileKind | Unfit> {
  const fault = faultOf(bytes)
  if (fault) return { unfit: fault }
  try {
    const { width, height, format } = await new Bun.Image(bytes, {
      maxPixels: picturePixelsMax,
    }).metadata()
    if (`image/${format}` !== type) return { unfit: 'the picture cannot be read' }
    if (Math.max(width, height) > pictureSideMax) return tooManyPixels
    return { kind: 'picture', type, width, height }
  } catch (error) {
    const isBig = /TOO_MANY/.test(errorCodeOf(error))
    return isBig ? tooManyPixels : { unfit: 'the picture cannot be read' }
  }
}

const tooManyPixels: Unfit = {
  unfit: `a picture has at most ${pictureSideMax} pixels on a side and ${picturePixelsMax} in all`,
}

const sound = (type: SoundType, heard: Heard): FileKind | Unfit =>
  'fault' in heard ? { unfit: heard.fault } : { kind: 'sound', type, ...heard }

async function json(bytes: Uint8Array): Promise<FileKind | Unfit> {
  const fault = await jsonFault(bytes)
  if (!fault) return { kind: 'json', type: 'application/json' }
  if (fault === 'depth') return { unfit: `JSON is nested at most ${jsonDepthMax} deep` }
  return {
    unfit:
      'only PNG, JPEG, WebP, GIF, MP3, Ogg, WAV and JSON are kept; ' +
      'CSV and other text can be sent as a JSON string',
  }
}
