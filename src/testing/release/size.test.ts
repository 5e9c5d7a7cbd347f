import { expect, test } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import { binaryPath } from '../processes/server-process.ts'

/**
 * docs/releases.md, "Size", has what fills it. The build of CI compresses less (scripts/check.ts),
 * which adds 2.56 MB.
 */
const addedMax = Bun.env['BROTLI_QUALITY'] === undefined ? 25_000_000 : 27_560_000

test(`the binary adds less than ${addedMax / 1e6} MB to a program of one line`, () => {
  const { path, remove } = temporaryFolder('berth-size-')
  const source = join(path, 'hello.ts')
  writeFileSync(source, 'console.log("Ahoy")\n')
  const hello = join(path, 'hello')
  const command = ['build', '--compile', source, '--outfile', hello]
  const { exitCode } = Bun.spawnSync([process.execPath, ...command], { cwd: path })
  expect(exitCode).toBe(0)

  expect(statSync(binaryPath).size - statSync(hello).size).toBeLessThan(addedMax)
  remove()
})
