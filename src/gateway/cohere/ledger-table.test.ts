import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { isRecord, type Json } from '../../core/schema.ts'
import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { type Cell, ChargeTable, plain, streamed } from '../../testing/fixtures/charge-table.ts'

let table: ChargeTable
beforeAll(async () => {
  const messages = [{ role: 'user', content: 'Say hello.' }]
  table = await ChargeTable.open('/v2/chat', (model, stream) => ({
    model,
    messages,
    stream,
    max_tokens: 50,
  }))
})
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

describe('charges of a chat', () => {
  test.concurrent.each(plain.filter(isSteady))(
    '%s',
    async (name, cell) => {
      const answer = await table.run(name, false, cell)
      if (cell.status !== 200) return expectError(answer.body, cell)
      const { usage } = Object(answer.body)
      expect(answer.body).toMatchObject({
        finish_reason: 'COMPLETE',
        message: { role: 'assistant', content: [{ type: 'text', text }] },
      })
      expect(usage.cost.toFixed(9).replace(/0+$/, '')).toBe(
        String(answer.headers.get('x-service-cost')),
      )
    },
    waitMs,
  )
})

describe('charges of a stream', () => {
  test.concurrent.each(streamed.filter(isSteady))(
    '%s',
    async (name, cell) => {
      const answer = await table.run(name, true, cell)
      if (cell.status !== 200) return expectError(answer.body, cell)
      const events = eventsOf(answer.body)
      const last = events.at(-1)
      if (cell.event) {
        expect(last).toMatchObject({
          type: 'message-end',
          delta: { finish_reason: 'ERROR', code: cell.event, error: expect.any(String) },
        })
        return expect(String(answer.body)).not.toContain('[DONE]')
      }
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
      expect(last).toMatchObject({
        delta: { finish_reason: 'COMPLETE', usage: { cost: expect.any(Number) } },
      })
    },
    waitMs,
  )
})
