import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'

const compress = promisify(brotliCompress)

/** The highest, unless the build of a test asks for less work (scripts/check.ts). */
export const brotliQuality = Number(Bun.env['BROTLI_QUALITY'] ?? constants.BROTLI_MAX_QUALITY)

/**
 * Compresses with a window of 16 MB, on a thread of its own: a MB takes a second or two in the
 * highest quality.
 */
export async function brotli(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
  }
  return new Uint8Array(await compress(bytes, { params }))
}
