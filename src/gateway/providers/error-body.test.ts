import { expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { reasonOf } from './error-body.ts'

const long = "This model's maximum context length is 8192 tokens."
const parse = (body: Json) => reasonOf(body)

test('finds the message in each upstream’s format', () => {
  for (const body of [
    { error: { message: long, code: null } },
    { error: long },
    { message: long, object: 'error' },
    { detail: long },
    { error: { message: 'Provider returned error', metadata: { raw: long } } },
    {
      error: {
        message: 'Provider returned error',
        metadata: { raw: JSON.stringify({ error: { message: long } }) },
      },
    },
  ]) {
    expect([body, parse(body)]).toEqual([body, { reason: long }])
  }
})

test('sets the code for a prompt that is too long', () => {
  const code = 'context_length_exceeded'
  expect(parse({ error: { message: long, code } })).toEqual({ reason: long, code })
  const llama = { code: 400, message: long, type: 'exceed_context_size_error' }
  expect(parse({ error: llama })).toEqual({ reason: long, code })
})

test('returns one bounded line, and nothing without a message', () => {
  const { reason } = parse({ error: { message: ` a\n\n b${'😀'.repeat(400)}` } })
  expect(reason?.startsWith('a b😀')).toBe(true)
  expect(reason?.length).toBe(500)
  expect(reason?.isWellFormed()).toBe(true)
  for (const body of [{ error: { message: 7 } }, { error: null }, {}]) {
    expect([body, parse(body)]).toEqual([body, {}])
  }
})
