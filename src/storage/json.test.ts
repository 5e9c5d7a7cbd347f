import { expect, test } from 'bun:test'

import fc from 'fast-check'

import { jsonDepthMax } from '../limits.ts'
import { jsonFault } from './json.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('what JSON.parse reads is JSON, however it is spaced', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), fc.constantFrom('', ' ', '\t\r\n'), async (text, space) => {
      expect(await jsonFault(encode(space + text + space))).toBeUndefined()
    }),
  )
})

test('what JSON.parse does not read is none', async () => {
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
      expect({ all, fault: await jsonFault(encode(all)) }).toEqual({
        all,
        fault: parses(all) ? undefined : 'form',
      })
    }),
    { numRuns: 3_000 },
  )
})

test('a mark of byte order is no part of it; what is no UTF-8 is none', async () => {
  expect(await jsonFault(encode('\uFEFF{}'))).toBeUndefined()
  expect(await jsonFault(new Uint8Array([0x22, 0xff, 0x22]))).toBe('form')
  expect(await jsonFault(new Uint8Array())).toBe('form')
})

test('it is read to the end, over many pieces, and never too deep', async () => {
  const rows = JSON.stringify(Array.from({ length: 40_000 }, (_, id) => ({ id, tags: ['a', 'b'] })))
  expect(await jsonFault(encode(rows))).toBeUndefined()
  expect(await jsonFault(encode(`${rows}]`))).toBe('form')
  const nested = (depth: number) => encode('['.repeat(depth) + ']'.repeat(depth))
  expect(await jsonFault(nested(jsonDepthMax))).toBeUndefined()
  expect(await jsonFault(nested(jsonDepthMax + 1))).toBe('depth')
})
