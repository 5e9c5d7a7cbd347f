import { afterAll, describe, expect, test } from 'bun:test'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { type Cell, ChargeTable, plain, streamed } from '../../testing/fixtures/charge-table.ts'
import type { TestResponse } from '../../testing/fixtures/test-server.ts'

const messages = [{ role: 'user', content: 'Say hello.' }]
const table = await ChargeTable.open('/v1/chat/completions', (model, stream) => ({
  model,
  messages,
  stream,
  max_tokens: 50,
}))
afterAll(() => table.close())

/** All cells run in parallel. */
const waitMs = 30_000

async function run(script: string, stream: boolean, cell: Cell): Promise<TestResponse> {
  const response = await table.run(script, stream, cell)
  if (cell.status !== 200) {
    const { type = 'api_error', code = null } = cell
    expect(response.body).toMatchObject({ error: { type, code } })
  }
  return response
}

describe('charges of a completion', () => {
  test.concurrent.each(plain)(
    '%s',
    async (name, cell) => {
      const response = await run(name, false, cell)
      if (cell.status !== 200) return
      const { choices, usage } = Object(response.body)
      expect(choices[0].message.content).toBe(fakeText.join(''))
      expect(usage.cost.toFixed(9).replace(/0+$/, '')).toBe(
        String(response.headers.get('x-service-cost')),
      )
    },
    waitMs,
  )
})

describe('charges of a stream', () => {
  test.concurrent.each(streamed)(
    '%s',
    async (name, cell) => {
      const response = await run(name, true, cell)
      if (cell.status !== 200) return
      const text = String(response.body)
      const data = text.split(/\r?\n|\r/).filter((line) => line.startsWith('data:'))
      const last = data.at(-1)?.slice(5).trim() ?? ''
      if (!cell.event) {
        expect(data.filter((line) => line.includes('[DONE]'))).toHaveLength(1)
        expect(last).toBe('[DONE]')
        return
      }
      expect(text).not.toContain('[DONE]')
      const { error } = JSON.parse(last)
      expect(error).toMatchObject({ code: cell.event, param: null })
      if (cell.charge !== 'nothing') expect(error.message).not.toContain('Nothing was charged')
    },
    waitMs,
  )
})

test('the target of a redirect is never contacted', () => {
  expect(table.patient.fake.canaryTouched()).toBe(0)
})

test('the operator is warned of a rejected upstream key, which appears in no response and no log line', () => {
  const warned = table.patient.warnings.filter(({ event }) => event === 'upstream.key_refused')
  expect(warned.map(({ status }) => status).toSorted()).toEqual([401, 401, 402, 402, 403, 403])
  expect(JSON.stringify([table.patient.warnings, table.patient.lines])).not.toContain('sk-fake')
})
