import type { AppContext } from '../../kernel/context.ts'
import type { App, Version } from '../apps.ts'
import { smallSize } from './schemas.ts'

const quality = { large: 78, small: 72 }

/** SHA-256 of the stored sizes, the mean color as #rrggbb, and the bytes of both sizes. */
export interface StoredCover {
  large: string
  small: string
  color: string
  bytes: number
}

export const coverColumns = ({ large, small, color }: StoredCover) =>
  ({ cover: large, coverSmall: small, coverColor: color }) satisfies Partial<App & Version>

/** Both sizes of a cover as WebP, and the mean color as #rrggbb. */
export interface EncodedCover {
  large: Uint8Array
  small: Uint8Array
  color: string
  bytes: number
}

/** Encodes a PNG of the large size as WebP in both sizes. */
export async function encodeCover(png: Uint8Array): Promise<EncodedCover> {
  const { width, height } = smallSize
  const [large, small, color] = await Promise.all([
    new Bun.Image(png).webp({ quality: quality.large }).bytes(),
    new Bun.Image(png).resize(width, height).webp({ quality: quality.small }).bytes(),
    meanColor(png),
  ])
  return { large, small, color, bytes: large.length + small.length }
}

export async function storeCover(
  { storage }: AppContext,
  { large, small, color, bytes }: EncodedCover,
): Promise<StoredCover> {
  const [first, second] = await Promise.all([storage.put(large), storage.put(small)])
  return { large: first.sha256, small: second.sha256, color, bytes }
}

/** Returns the screenshot with the most detail: the one with the largest small version. */
export async function pickCover(shots: Uint8Array[]): Promise<Uint8Array | undefined> {
  const { width, height } = smallSize
  const sizes = await Promise.all(
    shots.map(
      async (shot) => (await new Bun.Image(shot).resize(width, height).webp().bytes()).length,
    ),
  )
  return shots[sizes.indexOf(Math.max(...sizes))]
}

/** Returns the mean color of an image as #rrggbb, from its version of one pixel. */
async function meanColor(image: Uint8Array): Promise<string> {
  const { inflateSync } = await import('node:zlib')
  const png = Buffer.from(await new Bun.Image(image).resize(1, 1).png().bytes())
  const at = png.indexOf('IDAT')
  const data = png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4))
  // A row starts with its filter, which changes nothing for a single pixel.
  return `#${inflateSync(data).subarray(1, 4).toString('hex')}`
}
