import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** The files of the last build. */
export const publicDist = join(import.meta.dir, '../public/dist')

const brotli = promisify(brotliCompress)
const gzipAsync = promisify(gzip)

/**
 * Writes a file of a build in `out`: only as .br and .gz, except PNG and WOFF2, which are already
 * compressed.
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
  const [br, gz] = await Promise.all([brotli(data, { params }), gzipAsync(data, { level: 9 })])
  await Promise.all([Bun.write(`${path}.br`, br), Bun.write(`${path}.gz`, gz)])
}

/** Copies the compressed versions of the last build, if it had the same bytes and this script. */
async function reuse(from: string, to: string, data: Buffer): Promise<boolean> {
  const known = Bun.file(`${from}.gz`)
  const isCurrent = known.lastModified > Bun.file(import.meta.path).lastModified
  if (!isCurrent || !(await known.exists())) return false
  if (!data.equals(Bun.gunzipSync(await known.bytes()))) return false
  await Promise.all(['.br', '.gz'].map((end) => copyFile(from + end, to + end)))
  return true
}
