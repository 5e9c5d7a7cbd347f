import { expect, test } from 'bun:test'

import { countWords, endWithStop } from './text.ts'

test('white space of any kind separates words', () => {
  const all = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code))
  for (const one of all) expect(countWords(`a${one}a`)).toBe(`a${one}a`.match(/\S+/g)?.length ?? 0)
  expect(['', ' ', ' a', 'a ', '\n a\tb  c\r\n'].map(countWords)).toEqual([0, 0, 1, 1, 3])
})

test('a full stop is added only to texts without punctuation at the end', () => {
  expect(['phishing', 'It lies.', 'Why?', '詐欺。'].map(endWithStop)).toEqual([
    'phishing.',
    'It lies.',
    'Why?',
    '詐欺。',
  ])
})
