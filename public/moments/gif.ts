import { applyPalette, GIFEncoder, quantize } from 'gifenc'

/** A image of an animation, and how long it shows. */
export interface Frame {
  pixels: ImageData
  ms: number
}

/** One of the 256 colors says that a pixel is as in the image before. */
const colorsMax = 255
/** Pixels of all images from which the colors are chosen. */
const sampledMax = 60_000
/** Keeps what the image before showed (GIF89a, section 23). */
const keepBefore = 1

/** Returns pixels from all images. */
function sample(frames: Frame[]): Uint8ClampedArray {
  const all = frames.reduce((sum, { pixels }) => sum + pixels.width * pixels.height, 0)
  const step = Math.max(1, Math.ceil(all / sampledMax))
  const taken: number[] = []
  for (const { pixels } of frames) {
    const { data } = pixels
    for (let at = 0; at < data.length; at += 4 * step) {
      taken.push(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0, 255)
    }
  }
  return new Uint8ClampedArray(taken)
}

/** Lets the page draw and answer between two images. */
const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** Encodes images of one size as a GIF that repeats. Throws when the signal ends it. */
export async function encodeGif(frames: Frame[], signal: AbortSignal): Promise<Blob> {
  const colors = quantize(sample(frames), colorsMax)
  const same = colors.length
  const gif = GIFEncoder()
  let before: Uint8Array | undefined
  for (const { pixels, ms } of frames) {
    signal.throwIfAborted()
    const { data, width, height } = pixels
    const index = applyPalette(data, colors)
    // Long runs of one value make the file small.
    const changed = before
      ? index.map((color, at) => (color === before?.[at] ? same : color))
      : index
    gif.writeFrame(changed, width, height, {
      palette: before ? undefined : [...colors, [0, 0, 0]],
      delay: ms,
      transparent: before !== undefined,
      transparentIndex: same,
      dispose: keepBefore,
    })
    before = index
    await rest()
  }
  gif.finish()
  return new Blob([gif.bytes()], { type: 'image/gif' })
}
