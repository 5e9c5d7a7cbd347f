/** Compression on threads of the runtime's pool, which blocks no request. */

// Imports would embed the bytecode of Node's streams in the binary.
const zlib = () => process.getBuiltinModule('node:zlib')
const util = () => process.getBuiltinModule('node:util')

/** Compresses bytes with brotli (RFC 7932). `quality` is 0 to 11; 11 takes seconds. */
export function brotli(bytes: Uint8Array, quality: number): Promise<Uint8Array> {
  const { brotliCompress, constants } = zlib()
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
  }
  return util().promisify(brotliCompress)(bytes, { params })
}

/** Compresses bytes with gzip (RFC 1952), at level 6. */
export const gzip = (bytes: Uint8Array): Promise<Uint8Array> => util().promisify(zlib().gzip)(bytes)
