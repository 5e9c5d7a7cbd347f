import { expect, test } from 'bun:test'

import fc from 'fast-check'

import { jsonDepthMax } from '../kernel/limits.ts'
import { jsonProblem } from './json.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('accepts what JSON.parse accepts, with any spacing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), fc.constantFrom('', ' ', '\t\r\n'), async (text, space) => {
      expect(await jsonProblem(encode(space + text + space))).toBeUndefined()
    }),
  )
})

test('rejects what JSON.parse rejects', async () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u00',
    'aF',
    '-',
    '0',
    '17',
    '.',
    'e',
    'E+',
  ]
  const more = ['true', 'nul', 'null', ' ', '\n', '\0', 'é', '"a"', '"a":1', '\\n', '/']
  const text = fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(text, async (parts) => {
      const all = parts.join('')
      expect({ all, problem: await jsonProblem(encode(all)) }).toEqual({
        all,
        problem: parses(all) ? undefined : 'form',
      })
    }),
    { numRuns: 3_000 },
  )
})

test('skips a byte order mark and rejects invalid UTF-8', async () => {
  expect(await jsonProblem(encode('\uFEFF{}'))).toBeUndefined()
  expect(await jsonProblem(new Uint8Array([0x22, 0xff, 0x22]))).toBe('form')
  expect(await jsonProblem(new Uint8Array())).toBe('form')
})

test('reads many slices to the end and rejects deep nesting', async () => {
  const rows = JSON.stringify(Array.from({ length: 40_000 }, (_, id) => ({ id, tags: ['a', 'b'] })))
  expect(await jsonProblem(encode(rows))).toBeUndefined()
  expect(await jsonProblem(encode(`${rows}]`))).toBe('form')
  const nested = (depth: number) => encode('['.repeat(depth) + ']'.repeat(depth))
  expect(await jsonProblem(nested(jsonDepthMax))).toBeUndefined()
  expect(await jsonProblem(nested(jsonDepthMax + 1))).toBe('depth')
})
