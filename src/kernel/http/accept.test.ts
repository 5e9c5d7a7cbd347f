import { expect, test } from 'bun:test'

import { prefers } from './accept.ts'

const requestWith = (accept: string) => new Request('http://localhost/', { headers: { accept } })

test.each([
  ['text/markdown', true],
  ['text/markdown, */*', true],
  ['text/markdown, application/json', true],
  ['TEXT/Markdown; charset=utf-8 , */*;q=0.1', true],
  ['text/markdown;q=0.9, application/json;q=0.5', true],
  ['', false],
  ['*/*', false],
  ['text/*', false],
  ['text/markdown;q=0', false],
  ['application/json, text/markdown, */*', false],
  ['application/json, text/markdown;q=0.9', false],
  ['text/markdown;q=0.5, */*', false],
  ['text/markdown;q=0.5, application/*', false],
])('%p prefers Markdown to JSON: %p', (accept, expected) => {
  expect(prefers(requestWith(accept), 'text/markdown', 'application/json')).toBe(expected)
})
