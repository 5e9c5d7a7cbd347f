import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'

const compress = promisify(brotliCompress)

/**
 * Compresses as much as brotli can, with a window of 16 MB: a MB takes a second or two, on a thread
 * of its own.
 */
export async function brotli(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
  }
  return new Uint8Array(await compress(bytes, { params }))
}
