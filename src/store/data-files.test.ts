import { afterAll, expect, test } from 'bun:test'
import { existsSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { newId } from '../kernel/ids.ts'
import { withTempFolder } from './data-files.ts'

const left: string[] = []
afterAll(() => left.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/** The folder of work whose process was killed. */
async function leftBy(dataDir: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  void withTempFolder(dataDir, (folder) => (resolve(folder), new Promise(() => {})))
  const folder = await promise
  left.push(folder)
  await writeFile(join(folder, 'profile'), 'x')
  return folder
}

test('removes the temporary folder that a killed process left for the same data folder', async () => {
  const [own, other] = [`/data/${newId()}`, `/data/${newId()}`]
  const [before, others] = [await leftBy(own), await leftBy(other)]
  const folder = await withTempFolder(own, async (folder) => {
    expect([before, others, folder].map(existsSync)).toEqual([false, true, true])
    return folder
  })
  expect(existsSync(folder)).toBe(false)
})
