import { initWasm, Resvg } from '@resvg/resvg-wasm'

import { getPublicFile, readPackageFile, readPublic } from '../../kernel/public-files.ts'
import { effect } from './audio/effect.ts'
import { music } from './audio/music.ts'
import { oggOf, type Samples, secondsOf } from './audio/ogg.ts'
import { voice } from './audio/voice.ts'
import { defaultSizes } from './default-sizes.ts'
import { fit, image, sprite } from './images/draw.ts'

let ready: Promise<void> | undefined

/** The font of the site, for a drawing with text. */
const fontsFor = (svg: string): Uint8Array[] =>
  svg.includes('<text') ? [getPublicFile(readPublic(), 'fonts/geist.woff2').identity()] : []

/** Renders SVG at its own size. */
export async function pngOf(svg: string): Promise<Uint8Array<ArrayBuffer>> {
  ready ??= readPackageFile('@resvg/resvg-wasm/index_bg.wasm').then(initWasm)
  await ready
  const font = { loadSystemFonts: false, fontBuffers: fontsFor(svg), defaultFontFamily: 'Geist' }
  return new Uint8Array(new Resvg(svg, { font }).render().asPng())
}

/** A file to generate (document 1, section 2). Sizes in pixels, durations in seconds. */
export interface GenerateRequest {
  kind: 'sprite' | 'picture' | 'sound' | 'voice' | 'music'
  what: string
  seed: string
  seconds?: number | undefined
  width?: number | undefined
  height?: number | undefined
  voice?: string | undefined
}

/** A model's image to resize. `key`: make its magenta background transparent. */
export interface ResizeRequest {
  kind: 'painted'
  bytes: Uint8Array<ArrayBuffer>
  width: number
  height: number
  key: boolean
}

/** A drawing of this server, such as a social card. */
export interface DrawRequest {
  kind: 'svg'
  svg: string
}

export interface GeneratedFile {
  bytes: Uint8Array<ArrayBuffer>
  type: 'image/png' | 'audio/ogg'
  width?: number
  height?: number
  seconds?: number
}

export type AnyRequest = GenerateRequest | ResizeRequest | DrawRequest

const maxPixels = 30_000_000
const longerTimesMax = 8

/** Generates a file from a description, without a model. Equal requests give equal bytes. */
export async function generate(request: AnyRequest): Promise<GeneratedFile> {
  if (request.kind === 'svg') return { bytes: await pngOf(request.svg), type: 'image/png' }
  if (request.kind === 'painted') return resize(request)
  const { kind, what, seed, seconds } = request
  switch (kind) {
    case 'sprite':
      return drawImage(sprite, request, defaultSizes.sprite)
    case 'picture':
      return drawImage(image, request, defaultSizes.picture)
    case 'sound':
      return encodeAudio(effect(what, seed, seconds))
    case 'music':
      return encodeAudio(music(what, seed, seconds))
    case 'voice':
      return encodeAudio(await voice(what, request.voice))
  }
}

async function resize({ bytes, width, height, key }: ResizeRequest): Promise<GeneratedFile> {
  const { width: wide, height: high } = await new Bun.Image(bytes, { maxPixels }).metadata()
  const [longer, shorter] = [Math.max(wide, high), Math.min(wide, high)]
  if (longer > shorter * longerTimesMax)
    throw new Error('the aspect ratio of the image is too large')
  // Scale so that the shorter side covers the target; `fit` crops the rest.
  const side = Math.ceil((Math.max(width, height) * longer) / shorter)
  const cover = { fit: 'inside', withoutEnlargement: true } as const
  const png = await new Bun.Image(bytes, { maxPixels }).resize(side, side, cover).png().bytes()
  return { bytes: await pngOf(fit(png, { width, height }, key)), type: 'image/png', width, height }
}

async function drawImage(
  draw: typeof sprite,
  request: GenerateRequest,
  defaults: typeof defaultSizes.sprite,
) {
  const { what, seed, width = defaults.width, height = defaults.height } = request
  const size = { width, height }
  return { bytes: await pngOf(draw(what, seed, size)), type: 'image/png', ...size } as const
}

async function encodeAudio(samples: Samples) {
  const seconds = Number(secondsOf(samples).toFixed(2))
  return { bytes: await oggOf(samples), type: 'audio/ogg', seconds } as const
}
