import { afterAll, describe, expect, test } from 'bun:test'

import { isRecord, type Json } from '../../kernel/schema.ts'
import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { type Cell, ChargeTable, plain, streamed } from '../../testing/fixtures/charge-table.ts'

const messages = [{ role: 'user', content: 'Say hello.' }]
const table = await ChargeTable.open('/v1/messages?beta=true', (model, stream) => ({
  model,
  messages,
  stream,
  max_tokens: 50,
}))
afterAll(() => table.close())

/** All cells run in parallel. */
const waitMs = 30_000
const text = fakeText.join('')
const types: Record<number, string> = {
  400: 'invalid_request_error',
  429: 'rate_limit_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

function expectError(body: unknown, { status, code }: Cell): void {
  expect(body).toMatchObject({
    type: 'error',
    error: { type: types[status], message: expect.any(String) },
    request_id: expect.any(String),
  })
  if (code) expect(body).toMatchObject({ error: { details: { error_code: code } } })
}

/** Parses a stream. The name of every event is its type. */
function eventsOf(body: unknown): Json[] {
  return String(body)
    .trim()
    .split('\n\n')
    .map((frame) => {
      const [name = '', data = ''] = frame.split('\n')
      const event: unknown = JSON.parse(data.slice('data: '.length))
      if (!isRecord(event)) throw new Error('no event')
      expect(name).toBe(`event: ${String(event.type)}`)
      return event
    })
    .filter(({ type }) => type !== 'ping')
}

describe('charges of a message', () => {
  test.concurrent.each(plain)(
    '%s',
    async (name, cell) => {
      const response = await table.run(name, false, cell)
      if (cell.status !== 200) return expectError(response.body, cell)
      const { usage } = Object(response.body)
      expect(response.body).toMatchObject({
        type: 'message',
        content: [{ type: 'text', text }],
        stop_reason: 'end_turn',
      })
      expect(usage.cost.toFixed(9).replace(/0+$/, '')).toBe(
        String(response.headers.get('x-service-cost')),
      )
    },
    waitMs,
  )
})

describe('charges of a stream of events', () => {
  test.concurrent.each(streamed)(
    '%s',
    async (name, cell) => {
      const response = await table.run(name, true, cell)
      if (cell.status !== 200) return expectError(response.body, cell)
      const events = eventsOf(response.body)
      if (!cell.event) {
        const deltas = events.filter(({ type }) => type === 'content_block_delta')
        const parts = deltas.map(({ delta }) => Reflect.get(Object(delta), 'text'))
        expect(parts.join('')).toBe(text)
        expect(events.map(({ type }) => type)).toEqual([
          'message_start',
          'content_block_start',
          ...deltas.map(({ type }) => type),
          'content_block_stop',
          'message_delta',
          'message_stop',
        ])
        return
      }
      expect(events.at(-1)).toMatchObject({
        type: 'error',
        error: {
          type: cell.event === 'upstream_stream_error' ? 'api_error' : 'invalid_request_error',
          details: { error_code: cell.event },
        },
      })
      expect(String(response.body)).not.toContain('message_stop')
    },
    waitMs,
  )
})
