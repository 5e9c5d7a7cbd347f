import { afterAll, expect, test } from 'bun:test'
import { existsSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { newId } from '../core/ids.ts'
import { withScratch } from './scratch.ts'

const left: string[] = []
afterAll(() => left.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/** The folder of work whose process was killed. */
async function leftBy(dataDir: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  void withScratch(dataDir, (folder) => (resolve(folder), new Promise(() => {})))
  const folder = await promise
  left.push(folder)
  await writeFile(join(folder, 'profile'), 'x')
  return folder
}

test('what a killed process left of its work goes with the next of the same data folder', async () => {
  const [own, other] = [`/house/${newId()}`, `/house/${newId()}`]
  const [before, others] = [await leftBy(own), await leftBy(other)]
  const folder = await withScratch(own, async (folder) => {
    expect([before, others, folder].map(existsSync)).toEqual([false, true, true])
    return folder
  })
  expect(existsSync(folder)).toBe(false)
})
