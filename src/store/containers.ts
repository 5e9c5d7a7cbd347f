import { readMp4 } from './mp4.ts'
import { letters } from './riff.ts'
import { readWebm } from './webm.ts'

/** Brands of ISO 14496-12 files that hold images, and of those that hold audio. */
const imageBrands = /^(hei[cxms]|mif1|msf1|avif|avis|crx )/
const audioBrands = /^M4[AB] /

type ContainerType = 'mp4' | 'webm' | 'x-matroska'

/** Detects a container by its first bytes: `ftyp`, or the EBML header (RFC 8794) with its type. */
function detectContainer(bytes: Uint8Array): ContainerType | undefined {
  if (letters(bytes, 4, 4) === 'ftyp') {
    return imageBrands.test(letters(bytes, 8, 4)) ? undefined : 'mp4'
  }
  const head = letters(bytes, 0, 64)
  if (!head.startsWith('\x1a\x45\xdf\xa3')) return undefined
  return head.includes('webm') ? 'webm' : head.includes('matroska') ? 'x-matroska' : undefined
}

/** Detects a video's type by its first bytes. Returns undefined for audio and anything else. */
export function detectVideoType(bytes: Uint8Array): 'video/mp4' | 'video/webm' | undefined {
  const type = detectContainer(bytes)
  const isVideo = type && type !== 'x-matroska' && !audioBrands.test(letters(bytes, 8, 4))
  return isVideo ? `video/${type}` : undefined
}

export interface ContainerInfo {
  kind: 'audio' | 'video'
  container: ContainerType
  /** As the container states it or its samples add up; undefined when neither gives a length. */
  seconds: number | undefined
  /** True if the structure was followed to the last byte. */
  isWhole: boolean
}

/**
 * Reads the kind and the length of an MP4, M4A, WebM or Matroska file, or the reason that it is
 * invalid. Returns undefined for other formats. The readers are our own: mediabunny 1.61 reads the
 * same lengths, but does not return from some recordings that are cut off.
 */
export function readContainer(bytes: Uint8Array): ContainerInfo | { reason: string } | undefined {
  const container = detectContainer(bytes)
  if (!container) return undefined
  try {
    const recording = container === 'mp4' ? readMp4(bytes) : readWebm(bytes)
    if (!recording) return { reason: 'the file is cut off' }
    const { hasVideo, hasAudio, seconds, isWhole } = recording
    const isAudio = hasAudio && (!hasVideo || audioBrands.test(letters(bytes, 8, 4)))
    return { kind: isAudio ? 'audio' : 'video', container, seconds, isWhole }
  } catch (error) {
    if (error instanceof RangeError) return { reason: 'the file is damaged' }
    throw error
  }
}
