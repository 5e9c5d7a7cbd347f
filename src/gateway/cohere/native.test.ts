import { afterAll, describe, expect, test } from 'bun:test'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { nativeStreams } from '../../testing/fakes/native-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'

const t = await startFakeUpstreamServer({}, [], {}, 'cohere')
afterAll(() => t.close())
const text = fakeText.join('')

describe('a chat at an upstream of Cohere', () => {
  const chat = async (body: object, headers: Record<string, string> = {}) => {
    const gus = await t.gus()
    const response = await gus.call('POST', '/v2/chat', body, headers)
    return { gus, ...response, use: (await t.lastUse(gus)).use }
  }
  const thoughtBytes = 10_000
  const messages = [
    { role: 'user', content: 'Say hello.' },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'h'.repeat(thoughtBytes) }] },
    { role: 'user', content: 'Again.' },
  ]

  test('the upstream receives the request unchanged, except fields about its account', async () => {
    const body = {
      model: 'fake/cohere-ok',
      messages,
      safety_mode: 'CONTEXTUAL',
      strict_tools: false,
      thinking: { type: 'enabled', token_budget: 1_000 },
      documents: [{ id: 'd1', data: { tide: 'high' } }],
      citation_options: { mode: 'ACCURATE' },
      max_tokens: 50,
    }
    const routed = { ...body, priority: 1, models: [], provider: {} }
    const { status, body: response, use, headers } = await chat(routed)
    expect(headers.get('x-ignored-fields')).toBe('priority')
    const { path, body: received, headers: sent } = t.fake.received.at(-1) ?? {}
    expect([status, path, received]).toEqual([200, '/v1/chat', body])
    // The chat does not have these thoughts, which the model reads.
    expect(use?.held).toBeGreaterThan(BigInt(thoughtBytes) * 1_000n)
    expect(sent?.authorization).toBe('Bearer sk-fake')
    const cost = Number(use?.charged) / 1e9
    expect(response).toMatchObject({
      id: 'fake',
      message: { content: [{ type: 'text', text }] },
      usage: { tokens: { input_tokens: 507 }, cost },
    })
    expect(Number(headers.get('x-service-cost'))).toBe(cost)
  })

  test('a repeated stream is replayed, and a fallback receives a translated request', async () => {
    const body = { model: 'fake/cohere-ok', messages, stream: true }
    const key = { 'idempotency-key': 'native-2' }
    const { gus, body: first } = await chat(body, key)
    const again = await gus.call('POST', '/v2/chat', body, key)
    expect([first, again.body]).toEqual([nativeStreams.cohere, nativeStreams.cohere])
    for (const stream of [false, true]) {
      const model = 'fake/cohere-503'
      const routed = { ...body, model, models: ['fake/ok'], stream, safety_mode: 'OFF' }
      const { use, body: response, headers } = await chat(routed)
      expect([use?.model, headers.get('x-ignored-fields')]).toEqual(['fake/ok', 'safety_mode'])
      if (!stream)
        expect(response).toMatchObject({ message: { content: [{ type: 'text', text }] } })
      else expect(String(response)).toContain('"finish_reason":"COMPLETE"')
    }
  })
})
