import { effect } from './audio/effect.ts'
import { music } from './audio/music.ts'
import { oggOf, type Samples, secondsOf } from './audio/ogg.ts'
import { voice } from './audio/voice.ts'
import { picture, sprite } from './images/draw.ts'
import { fit } from './images/fit.ts'
import { pngOf } from './images/png.ts'
import { measures } from './measures.ts'

/** What is wanted, by document 1 (section 2, Asset): measures in pixels, lengths in seconds. */
export interface Wanted {
  kind: 'sprite' | 'picture' | 'sound' | 'voice' | 'music'
  what: string
  seed: string
  seconds?: number | undefined
  width?: number | undefined
  height?: number | undefined
  voice?: string | undefined
}

/** A picture that a model painted, to be brought into a size; `key`: cut out of its magenta. */
export interface Painted {
  kind: 'painted'
  bytes: Uint8Array<ArrayBuffer>
  width: number
  height: number
  key: boolean
}

/** A made file. */
export interface Made {
  bytes: Uint8Array<ArrayBuffer>
  type: 'image/png' | 'audio/ogg'
  width?: number
  height?: number
  seconds?: number
}

const maxPixels = 30_000_000
const longerTimesMax = 8

/** Makes a file from words, without a model. The same wish gives the same bytes, always. */
export async function make(wanted: Wanted | Painted): Promise<Made> {
  if (wanted.kind === 'painted') return fitted(wanted)
  const { kind, what, seed, seconds } = wanted
  switch (kind) {
    case 'sprite':
      return drawn(sprite, wanted, measures.sprite)
    case 'picture':
      return drawn(picture, wanted, measures.picture)
    case 'sound':
      return heard(effect(what, seed, seconds))
    case 'music':
      return heard(music(what, seed, seconds))
    case 'voice':
      return heard(await voice(what, wanted.voice))
  }
}

async function fitted({ bytes, width, height, key }: Painted): Promise<Made> {
  const { width: wide, height: high } = await new Bun.Image(bytes, { maxPixels }).metadata()
  const [longer, shorter] = [Math.max(wide, high), Math.min(wide, high)]
  if (longer > shorter * longerTimesMax) throw new Error('the picture is too long for its width')
  // Its shorter side covers the longer one that is wanted; what is over is cut off by the fit.
  const side = Math.ceil((Math.max(width, height) * longer) / shorter)
  const cover = { fit: 'inside', withoutEnlargement: true } as const
  const png = await new Bun.Image(bytes, { maxPixels }).resize(side, side, cover).png().bytes()
  return { bytes: await pngOf(fit(png, { width, height }, key)), type: 'image/png', width, height }
}

async function drawn(draw: typeof sprite, wanted: Wanted, unsaid: typeof measures.sprite) {
  const { what, seed, width = unsaid.width, height = unsaid.height } = wanted
  const size = { width, height }
  return { bytes: await pngOf(draw(what, seed, size)), type: 'image/png', ...size } as const
}

async function heard(samples: Samples) {
  const seconds = Number(secondsOf(samples).toFixed(2))
  return { bytes: await oggOf(samples), type: 'audio/ogg', seconds } as const
}
