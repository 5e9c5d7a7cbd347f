import { afterAll, describe, expect, test } from 'bun:test'

import { isRecord, type Json } from '../../kernel/schema.ts'
import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { nativeStreams } from '../../testing/fakes/native-scripts.ts'
import { type Cell, ChargeTable, plain, streamed } from '../../testing/fixtures/charge-table.ts'
import { nativeCells } from '../../testing/fixtures/native-cells.ts'

const messages = [{ role: 'user', content: 'Say hello.' }]
const build = (model: string, stream: boolean) => ({ model, messages, stream, max_tokens: 50 })
const table = await ChargeTable.open('/v2/chat', build, 'cohere')
afterAll(() => table.close())

/** All cells run in parallel. */
const waitMs = 120_000
const text = fakeText.join('')

/**
 * Leaves out connections that are cut, which a slow machine notices before the first event. The
 * table of the chat has them.
 */
const isSteady = ([name]: [string, Cell]): boolean => !/middle|truncated|bomb/.test(name)

/** Cohere's errors have the reason at the top. No other envelope may be there. */
function expectError(body: unknown, { code }: Cell): void {
  expect(body).toMatchObject({ id: expect.any(String), message: expect.any(String) })
  expect(body).not.toHaveProperty('error')
  if (code) expect(body).toMatchObject({ code })
}

/** Parses a stream. The name of every event is its type. */
function eventsOf(body: unknown): Json[] {
  const frames = String(body)
    .trim()
    .split('\n\n')
    .filter((frame) => !frame.startsWith(':'))
  return frames.flatMap((frame) => {
    const [name = '', data = ''] = frame.split('\n')
    if (frame === 'data: [DONE]') return []
    const event: unknown = JSON.parse(data.slice('data: '.length))
    if (!isRecord(event)) throw new Error('no event')
    expect(name).toBe(`event: ${String(event.type)}`)
    return [event]
  })
}

const relayed = nativeCells('cohere', 'uncached')

describe('charges of a chat', () => {
  test.concurrent.each([...plain.filter(isSteady), ...relayed.plain])(
    '%s',
    async (name, cell) => {
      const response = await table.run(name, false, cell)
      if (cell.status !== 200) return expectError(response.body, cell)
      const { usage } = Object(response.body)
      expect(response.body).toMatchObject({
        finish_reason: 'COMPLETE',
        message: { role: 'assistant', content: [{ type: 'text', text }] },
      })
      expect(usage.cost.toFixed(9).replace(/0+$/, '')).toBe(
        String(response.headers.get('x-service-cost')),
      )
    },
    waitMs,
  )
})

describe('charges of a stream', () => {
  test.concurrent.each([...streamed.filter(isSteady), ...relayed.streamed])(
    '%s',
    async (name, cell) => {
      const response = await table.run(name, true, cell)
      if (cell.status !== 200) return expectError(response.body, cell)
      const events = eventsOf(response.body)
      const last = events.at(-1)
      if (cell.event) {
        expect(last).toMatchObject({
          type: 'message-end',
          delta: { finish_reason: 'ERROR', code: cell.event, error: expect.any(String) },
        })
        return expect(String(response.body)).not.toContain('[DONE]')
      }
      if (name === 'cohere-ok') expect(response.body).toBe(nativeStreams.cohere)
      const deltas = events.filter(({ type }) => type === 'content-delta')
      const parts = deltas.map(({ delta }) => Object(delta).message.content.text)
      expect(parts.join('')).toBe(text)
      expect(events.map(({ type }) => type)).toEqual([
        'message-start',
        'content-start',
        ...deltas.map(({ type }) => type),
        'content-end',
        'message-end',
      ])
      if (name.startsWith('cohere')) return
      expect(last).toMatchObject({
        delta: { finish_reason: 'COMPLETE', usage: { cost: expect.any(Number) } },
      })
    },
    waitMs,
  )
})

describe('a chat at an upstream of Cohere', () => {
  const chat = async (body: object, headers: Record<string, string> = {}) => {
    const gus = await table.patient.gus()
    const response = await gus.call('POST', '/v2/chat', body, headers)
    return { gus, ...response, use: (await table.patient.lastUse(gus)).use }
  }
  const thoughtBytes = 10_000
  const messages = [
    { role: 'user', content: 'Say hello.' },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'h'.repeat(thoughtBytes) }] },
    { role: 'user', content: 'Again.' },
  ]

  test('the upstream receives the request itself, without what is of its account', async () => {
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
    const { path, body: received, headers: sent } = table.patient.fake.received.at(-1) ?? {}
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

  test('a stream is replayed, and a fallback is translated', async () => {
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
      else expect(eventsOf(response).at(-1)).toMatchObject({ delta: { finish_reason: 'COMPLETE' } })
    }
  })
})
