import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { mutants } from '../../scripts/soak/mutants.ts'

const root = join(import.meta.dir, '../..')

test('each fault can be planted: its text is once in its file, and its tests exist', () => {
  const lost = mutants.filter(({ file, from, tests }) => {
    const path = join(root, file)
    const places = existsSync(path) ? readFileSync(path, 'utf8').split(from).length - 1 : 0
    return places !== 1 || !tests.every((one) => existsSync(join(root, one)))
  })
  expect(lost.map(({ name }) => name)).toEqual([])
})
