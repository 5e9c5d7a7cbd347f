import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import { isBlankImage } from '../../kernel/image.ts'
import { iconBytesMax } from '../../kernel/limits.ts'
import { lookUp } from '../../kernel/schema.ts'
import { errorCodeOf } from '../../kernel/text.ts'
import type { AppContext } from '../../server/context.ts'
import { jpegProblem, pngProblem, webpProblem } from '../../store/images.ts'
import { callScanHook } from '../scans/scan-hook.ts'

/** Side of an icon in pixels (document 1, section 8). */
const side = 512

const unreadable = (problem: string): ApiError => new ApiError('bad_request', { problem })

/** Decodes a data URL of any image type (RFC 2397). Throws `bad_request` and `too_big`. */
export function decodeDataUrl(image: string): Uint8Array<ArrayBuffer> {
  const [head = ''] = /^data:image\/[^,]{1,100};base64,/i.exec(image) ?? []
  if (head === '') {
    throw unreadable('"image" is a data URL of a JPEG, PNG or WebP: data:image/png;base64,...')
  }
  const bytes = Math.floor(((image.length - head.length) * 3) / 4)
  if (bytes > iconBytesMax + 3) throw new ApiError('too_big', { bytes, max: iconBytesMax })
  try {
    const read = Uint8Array.fromBase64(image.slice(head.length))
    if (read.length <= iconBytesMax) return read
  } catch {
    throw unreadable('"image" is no base64 after its comma.')
  }
  throw new ApiError('too_big', { bytes, max: iconBytesMax })
}

/** Crops an image to an icon without metadata. Throws `bad_request`, `bad_picture`, `try_again`. */
export const toIcon = (ctx: AppContext, bytes: Uint8Array<ArrayBuffer>) =>
  toImage(ctx, bytes, { width: side, height: side })

/**
 * Scales and crops an uploaded image to a PNG without metadata. Throws `bad_request`,
 * `bad_picture`, `try_again`.
 */
export async function toImage(
  ctx: AppContext,
  bytes: Uint8Array<ArrayBuffer>,
  size: { width: number; height: number },
) {
  await checkImage(bytes)
  const fitted = { kind: 'painted', bytes, ...size, key: false } as const
  const icon = await ctx.generators.generate(fitted).catch((error: unknown) => {
    if (error instanceof ApiError) throw error
    throw new ApiError('bad_picture', { why: 'it could not be cropped' })
  })
  const { bytes: body } = icon
  if (await isBlankImage(body)) throw new ApiError('bad_picture', { why: 'it is blank' })
  const { verdict } = await callScanHook(ctx, { type: 'image/png', sha256: sha256(body), body })
  if (verdict === 'clean') return body
  throw new ApiError('bad_picture', { why: "the operator's own safety check blocked it" })
}

const validators: Record<string, (bytes: Uint8Array) => string | undefined> = {
  png: pngProblem,
  jpeg: jpegProblem,
  webp: webpProblem,
}

async function checkImage(bytes: Uint8Array): Promise<void> {
  try {
    const { format } = await new Bun.Image(bytes, { maxPixels: 30_000_000 }).metadata()
    const validate = lookUp(validators, format)
    if (validate && validate(bytes) === undefined) return
  } catch (error) {
    if (/TOO_MANY/.test(errorCodeOf(error))) {
      throw new ApiError('bad_picture', { why: 'it has more than 30 million pixels' })
    }
  }
  throw unreadable('"image" cannot be read: it is not a complete JPEG, PNG or WebP.')
}
