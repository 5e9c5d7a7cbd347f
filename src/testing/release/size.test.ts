import { expect, test } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import { binaryPath } from '../processes/server-process.ts'

/** docs/releases.md, "Size", has what fills it. */
const addedMax = 25_000_000

test('the binary adds less than 25 MB to a program of one line', () => {
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
