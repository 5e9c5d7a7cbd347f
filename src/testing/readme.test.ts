import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { settings } from '../settings.ts'

const readme = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8')

test('the README lists every setting with its default and its sentence, and no other', () => {
  const rows = Object.entries(settings).map(([name, { initial, help }]) => {
    return `| \`${name}\` | ${initial && `\`${initial}\``} | ${help} |`
  })
  const listed = readme.split('\n').filter((line) => /^\| `[A-Z_]+` \|/.test(line))
  expect(listed).toEqual(rows)
})
