/**
 * Writes the licenses of what the binary contains, compressed, where `berth licenses` reads them.
 *   bun scripts/packaging/build-licenses.ts FILE
 */
import { licensesOf, thirdParties } from './third-party.ts'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('usage: build-licenses FILE')
await Bun.write(file, await Bun.zstdCompress(licensesOf(thirdParties()), { level: 19 }))
