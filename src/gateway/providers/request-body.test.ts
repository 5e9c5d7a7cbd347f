import { expect, test } from 'bun:test'

import { buildRequestBody, ignoredFields, requestFieldsOf } from './request-body.ts'
import type { UpstreamPath } from './upstream.ts'

/** Returns the fields of a body that an upstream receives. */
function sentFields(
  path: UpstreamPath,
  body: Record<string, unknown> | FormData,
  more?: readonly string[],
): Record<string, unknown> {
  const signal = AbortSignal.timeout(1_000)
  const built = buildRequestBody({ path, model: 'm', body, signal }, more)
  if (typeof built === 'string') return JSON.parse(built)
  const form: Record<string, unknown> = {}
  built.forEach((value, name) => void (form[name] = value))
  return form
}

test('passes known fields unchanged with the upstream’s model name', () => {
  const body = { model: 'x/y', input: ['a', null], user: null, dimensions: 'all', zebra: 1 }
  expect(sentFields('/embeddings', body)).toEqual({
    model: 'm',
    input: ['a', null],
    user: null,
    dimensions: 'all',
  })
})

test('a field of one path is sent to that path only', () => {
  const body = { documents: ['a'], voice: 'b', prompt: 'c' }
  expect(sentFields('/rerank', body)).toEqual({ model: 'm', documents: ['a'] })
  expect(sentFields('/audio/speech', body)).toEqual({ model: 'm', voice: 'b' })
  expect(sentFields('/images/generations', body)).toEqual({ model: 'm', prompt: 'c' })
})

test('the operator adds the fields of an upstream', () => {
  expect(requestFieldsOf('/images/generations', ['zebra']).has('zebra')).toBe(true)
  expect(requestFieldsOf('/images/generations', []).has('zebra')).toBe(false)
  expect(sentFields('/embeddings', { input: 'a', zebra: 1 }, ['zebra'])).toEqual({
    model: 'm',
    input: 'a',
    zebra: 1,
  })
})

test('forms have lists under name[]', () => {
  const form = new FormData()
  for (const name of ['language', 'timestamp_granularities[]', 'zebra', 'zebra[]'])
    form.set(name, 'x')
  const sent = sentFields('/audio/transcriptions', form)
  expect(sent).toEqual({ language: 'x', 'timestamp_granularities[]': 'x', model: 'm' })
  const isKnown = (name: string) => requestFieldsOf('/audio/transcriptions', []).has(name)
  expect(ignoredFields(form, isKnown)).toEqual(['zebra'])
})

test('names the fields with a value that are not sent', () => {
  const isKnown = (name: string) => name === 'input'
  const body = { model: 'm', stream: true, input: 'a', zebra: 0, other: null, last: undefined }
  expect(ignoredFields(body, isKnown)).toEqual(['zebra'])
})
