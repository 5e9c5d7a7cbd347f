import { expect, test } from 'bun:test'

import { TarballReader } from './registry.ts'

const mb = 1_048_576

test('a tarball past the memory of its process is not read, and the next one is', async () => {
  const reader = new TarballReader({ memoryBytes: 32 * mb })
  // Members of one gzip file, which unpack one after another to 240 MB.
  const bomb = Buffer.concat(Array(15).fill(Bun.gzipSync(new Uint8Array(16 * mb))))
  const read = (bytes: Uint8Array) => reader.read(bytes).then(String, String)
  expect(await read(bomb)).toContain('it took too much memory')
  expect(await read(new Uint8Array(8))).toContain('The file is no gzip archive')
  reader.close()
})
