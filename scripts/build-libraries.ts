/**
 * Writes the archive of the embedded libraries into a folder: index.json.zst and body.bin.
 * Compressing takes about a minute, so an archive of the same packages and quality is kept.
 *   bun scripts/build-libraries.ts FOLDER
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { buildArchive, readInstalled } from '../src/apps/libraries/embedded.ts'
import { sha256 } from '../src/kernel/ids.ts'
import { brotli, brotliQuality } from './brotli.ts'

const bytesMax = 12 * 1_048_576

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: build-libraries FOLDER')
const libraries = await readInstalled()
const contents = libraries.map(({ name, version, files }) => [name, version, ...files])
const format = await Bun.file(join(import.meta.dir, '../src/apps/libraries/embedded.ts')).text()
const stamp = sha256(JSON.stringify([format, contents, brotliQuality]))
const stampFile = Bun.file(join(folder, 'stamp'))
if (!(await stampFile.exists()) || (await stampFile.text()) !== stamp) {
  const { index, body } = await buildArchive(libraries, brotli)
  const table = Bun.zstdCompressSync(JSON.stringify(index), { level: 19 })
  const bytes = body.byteLength + table.byteLength
  if (bytes > bytesMax) throw new Error(`The embedded libraries have ${bytes} bytes.`)
  await mkdir(folder, { recursive: true })
  await Bun.write(join(folder, 'index.json.zst'), table)
  await Bun.write(join(folder, 'body.bin'), body)
  await Bun.write(stampFile, stamp)
  console.error(`${libraries.length} libraries in ${(bytes / 1_048_576).toFixed(1)} MB`)
}
