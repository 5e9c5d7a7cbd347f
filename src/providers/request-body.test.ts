import { expect, test } from 'bun:test'

import { buildRequestBody, type Dialect } from './request-body.ts'

function sent(body: Record<string, unknown>, dialect: Dialect = {}, outputTokensMax?: number) {
  const call = {
    path: '/chat/completions',
    model: 'm',
    signal: AbortSignal.timeout(1_000),
  } as const
  const most = outputTokensMax === undefined ? {} : { outputTokensMax }
  const text = buildRequestBody({ ...call, ...most, body }, dialect)
  return typeof text === 'string' ? JSON.parse(text) : text
}

test('passes a body through with the upstream’s model name', () => {
  expect(sent({ model: 'x/y', user: null, max_tokens: 'all' })).toEqual({
    model: 'm',
    user: null,
    max_tokens: 'all',
  })
})

test('sends the lowest output limit under the known name', () => {
  const rows: [Record<string, unknown>, Dialect, number | undefined, Record<string, unknown>][] = [
    [{}, {}, 9, { max_tokens: 9 }],
    [{ max_tokens: 5 }, {}, 9, { max_tokens: 5 }],
    [{ max_completion_tokens: 50 }, {}, 9, { max_completion_tokens: 9 }],
    [
      { max_tokens: 5, max_completion_tokens: 6 },
      {},
      undefined,
      { max_tokens: 5, max_completion_tokens: 5 },
    ],
    [{ max_tokens: 5 }, { outputName: 'max_completion_tokens' }, 9, { max_completion_tokens: 5 }],
    [{ max_completion_tokens: 5 }, { outputName: 'max_tokens' }, undefined, { max_tokens: 5 }],
    [
      { max_tokens: 5, max_completion_tokens: 6 },
      { outputName: 'max_tokens' },
      9,
      { max_tokens: 5 },
    ],
  ]
  for (const [body, dialect, most, limits] of rows) {
    expect(sent(body, dialect, most)).toEqual({ model: 'm', ...limits })
  }
})

test('omits stream_options for an upstream that rejects it', () => {
  const body = { stream: true, stream_options: { include_usage: true } }
  expect(sent(body, { rejectsStreamOptions: true })).toEqual({ model: 'm', stream: true })
  expect(sent(body)).toEqual({ model: 'm', ...body })
  expect(sent({ stream: true, stream_options: null })).toEqual({ model: 'm', ...body })
})

test('removes cache lifetimes that the price does not cover', () => {
  const part = (cache_control: object) => ({ type: 'text', text: 'A "ttl": 1.', cache_control })
  const properties = { cache_control: { type: 'object', ttl: 'in seconds' } }
  const called = { name: 'f', parameters: { type: 'object', properties } }
  const requests = (cache_control: object) => ({
    cache_control,
    ttl: 5,
    tools: [{ type: 'function', function: { ...called, cache_control }, cache_control }],
    messages: [{ role: 'user', content: [part(cache_control)] }],
  })
  const minutes = { model: 'm', ...requests({ type: 'ephemeral' }) }
  expect(sent(requests({ type: 'ephemeral', ttl: '1h' }))).toEqual(minutes)
  expect(sent(requests({ type: 'ephemeral' }))).toEqual(minutes)
})
