import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'

import { sha256 } from '../../kernel/ids.ts'
import { packRulesVersion } from './packs/rules.ts'
import { rulesVersion } from './rules.ts'

/** The words that rules share with names of people are in the kernel. */
const words = ['../../kernel/forbidden-text.ts', '../../kernel/text.ts']
const sources = readdirSync(import.meta.dir, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .sort()

function hashOf(files: string[]): string {
  const source = files.map((file) => readFileSync(`${import.meta.dir}/${file}`, 'utf8'))
  return sha256(source.join('\n')).slice(0, 16)
}

test('the rules have one version: raise it after a change, then put the new pair here', () => {
  const hash = hashOf([...words, ...sources.filter((file) => !file.startsWith('packs/'))])
  expect({ rulesVersion, hash }).toEqual({ rulesVersion: 18, hash: '1d183593d9b094e8' })
})

test('the rules of packs have a version of their own', () => {
  const hash = hashOf(sources.filter((file) => file.startsWith('packs/')))
  expect({ packRulesVersion, hash }).toEqual({ packRulesVersion: 3, hash: 'f7e1ab3b1c0434f1' })
})
