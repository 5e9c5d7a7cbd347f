import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { passedIn, withTables } from '../../../scripts/clients/printed-table.ts'
import { clients } from '../../../scripts/clients/table.ts'

const root = join(import.meta.dir, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('docs/clients.md has the printed tables of the pinned versions', () => {
  const text = read('docs/clients.md')
  // `bun scripts/clients/all.ts <client>` runs a client and prints the tables.
  expect(text).toBe(withTables(text, (client) => passedIn(text, client)))
})

test('a client of the lock file has its version', () => {
  const lock = read('bun.lock')
  const tested = clients.filter(({ testedBy }) => testedBy.includes('.test.ts'))
  expect(tested.length).toBeGreaterThan(9)
  const other = tested.filter(({ pinned }) => !lock.includes(`["${pinned}"`))
  expect(other.map(({ pinned }) => pinned)).toEqual([])
})
