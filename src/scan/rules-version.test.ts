import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'

import { sha256 } from '../core/ids.ts'
import { rulesVersion } from './rules.ts'

test('the rules have one version: raise it after a change, then put the new pair here', () => {
  const files = readdirSync(import.meta.dir, { recursive: true, encoding: 'utf8' })
  const source = files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .sort()
    .map((file) => readFileSync(`${import.meta.dir}/${file}`, 'utf8'))
  const hash = sha256(source.join('\n')).slice(0, 16)
  expect({ rulesVersion, hash }).toEqual({ rulesVersion: 8, hash: '0c55941f3a16bab7' })
})
