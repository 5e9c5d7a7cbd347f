import { expect, test } from 'bun:test'

import { ApiError } from '../errors.ts'
import { jsonDepthMax, jsonValuesMax } from '../limits.ts'
import { readJsonBody } from './body.ts'

const parse = (body: string | ReadableStream): Promise<unknown> =>
  readJsonBody(new Request('http://localhost/', { method: 'POST', body }))

/** Returns the error details of an invalid body. */
async function problemOf(text: string | ReadableStream): Promise<string> {
  try {
    await parse(text)
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    return JSON.stringify(error instanceof ApiError && error.details)
  }
}

test('brackets, commas and quotes inside strings have no meaning', async () => {
  const texts = ['[{,'.repeat(jsonValuesMax), '"', '\\', '\\"', 'a\\\\"[', '', '🚤"']
  for (const text of texts) expect(await parse(JSON.stringify({ text }))).toEqual({ text })
  expect(await parse(JSON.stringify(texts))).toEqual(texts)
})

test('nesting and the number of values are limited', async () => {
  const nested = (depth: number): string =>
    '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2)
  expect(await problemOf(nested(jsonDepthMax))).toBe('')
  expect(await problemOf(nested(jsonDepthMax + 2))).toContain('nested')
  const wide = (values: number): string => `[${Array<string>(values).fill('[]').join(',')}]`
  expect(await problemOf(wide(jsonValuesMax))).toBe('')
  expect(await problemOf(wide(jsonValuesMax + 1))).toContain('values')
})

test('a string without its end does not parse', async () => {
  for (const text of ['"', '"\\', '{"a":"\\"', '{"a":"b\\']) {
    expect(await problemOf(text)).toContain('it does not parse')
  }
})

test('an incomplete body is not an internal error', async () => {
  const broken = new ReadableStream({
    start(out) {
      out.enqueue(Buffer.from('{'))
      out.error(new Error('The client disconnected.'))
    },
  })
  expect(await problemOf(broken)).toContain('incomplete')
})

test('a compressed body is an error that names Content-Encoding', async () => {
  const body = Bun.gzipSync('{"a":1}')
  const headers = { 'content-encoding': 'gzip' }
  const request = new Request('http://localhost/', { method: 'POST', body, headers })
  expect(await readJsonBody(request).catch(({ details }) => details)).toEqual([
    { problem: 'The body is compressed. Send the body without Content-Encoding.' },
  ])
})

test('a large body is read like a small one', async () => {
  const long = 'é"\n'.repeat(200_000)
  expect(await parse(JSON.stringify({ long, a: [1, null] }))).toEqual({ long, a: [1, null] })
  expect(await parse(`{"a":"${'\\u0041'.repeat(200_000)}"}`)).toEqual({ a: 'A'.repeat(200_000) })
  expect(await problemOf(`["${long.replaceAll(/["\n]/g, ' ')}"`)).toContain('it does not parse')
  expect(await problemOf(`["${'a'.repeat(600_000)}",${'['.repeat(80)}`)).toContain('nested')
})
