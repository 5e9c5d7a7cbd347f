/** The tracks of a media file and its length. */
export interface Recording {
  hasVideo: boolean
  hasAudio: boolean
  /** Undefined when nothing in the file gives a length. */
  seconds: number | undefined
  /** True if the structure was followed to the last byte. */
  isWhole: boolean
}

/** The most boxes or elements that are read of a file. A recording of four hours has fewer. */
export const blocksMax = 1_000_000

/**
 * Chooses between the length that a header declares and that of the samples, in seconds. A recorder
 * that writes while it records leaves the header open. A header that is a second shorter than the
 * samples is wrong.
 */
export function chooseLength(declared: number, counted: number): number | undefined {
  const seconds = declared > 0 && counted <= declared + 1 ? declared : counted
  const rounded = Math.round(seconds * 1_000) / 1_000
  return rounded > 0 && Number.isFinite(rounded) ? rounded : undefined
}
