import { expect, test } from 'bun:test'

import { parseErrorReason } from './error-body.ts'

const long = "This model's maximum context length is 8192 tokens."
const saying = (body: unknown) => parseErrorReason(JSON.stringify(body))

test('each kind of upstream says it in another place', () => {
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
    expect([body, saying(body)]).toEqual([body, { said: long }])
  }
})

test('a prompt that is too long has the code that programs look for', () => {
  const code = 'context_length_exceeded'
  expect(saying({ error: { message: long, code } })).toEqual({ said: long, code })
  const llama = { code: 400, message: long, type: 'exceed_context_size_error' }
  expect(saying({ error: llama })).toEqual({ said: long, code })
})

test('it is one line of bounded length, and nothing where nothing is said', () => {
  const { said } = saying({ error: { message: ` a\n\n b${'😀'.repeat(400)}` } })
  expect(said?.startsWith('a b😀')).toBe(true)
  expect(said?.length).toBe(500)
  expect(said?.isWellFormed()).toBe(true)
  for (const body of ['', 'no json', '<h1>Bad</h1>', '[]', '{"error":{"message":7}}', '{}']) {
    expect([body, parseErrorReason(body)]).toEqual([body, {}])
  }
})
