import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib'

/** The files of the last build. */
export const publicDist = join(import.meta.dir, '../public/dist')

const brotli = promisify(brotliCompress)

/**
 * Writes a file of a build in `out`: only as .br, except PNG and WOFF2, which are compressed
 * already.
 */
export async function writePublicFile(
  out: string,
  name: string,
  bytes: Uint8Array | string,
): Promise<void> {
  const data = Buffer.from(bytes)
  const path = join(out, name)
  await mkdir(dirname(path), { recursive: true })
  if (/\.(?:png|woff2)$/.test(path)) return void (await Bun.write(path, data))
  if (await reuse(join(publicDist, name), path, data)) return
  // Above 300 KB level 11 takes seconds and saves three percent.
  const quality = data.length > 300_000 ? 6 : 11
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: data.length,
  }
  await Bun.write(`${path}.br`, await brotli(data, { params }))
}

/** Copies the compressed version of the last build, if it had the same bytes and this script. */
async function reuse(from: string, to: string, data: Buffer): Promise<boolean> {
  const known = Bun.file(`${from}.br`)
  const isCurrent = known.lastModified > Bun.file(import.meta.path).lastModified
  if (!isCurrent || !(await known.exists())) return false
  if (!data.equals(brotliDecompressSync(await known.bytes()))) return false
  await copyFile(`${from}.br`, `${to}.br`)
  return true
}
