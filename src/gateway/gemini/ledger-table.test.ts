import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { type Cell, ChargeTable, plain, streamed } from '../../testing/fixtures/charge-table.ts'

let table: ChargeTable
beforeAll(async () => {
  table = await ChargeTable.open(
    (model, stream) =>
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    () => ({
      contents: [{ parts: [{ text: 'Say hello.' }] }],
      generationConfig: { maxOutputTokens: 50 },
    }),
  )
})
afterAll(() => table.close())

/** All cells run in parallel. */
const waitMs = 30_000
const text = fakeText.join('')
const names: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function expectError(body: unknown, { status, code }: Cell): void {
  expect(body).toMatchObject({
    error: { code: status, status: names[status], message: expect.any(String) },
  })
  if (code) expect(body).toMatchObject({ error: { details: [{ reason: code }] } })
}

const responsesOf = (body: unknown): { candidates: Record<string, unknown>[] }[] =>
  String(body)
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => JSON.parse(frame.slice('data: '.length)))

describe('charges of a generation', () => {
  test.concurrent.each(plain)(
    '%s',
    async (name, cell) => {
      const answer = await table.run(name, false, cell)
      if (cell.status !== 200) return expectError(answer.body, cell)
      const { usageMetadata } = Object(answer.body)
      expect(answer.body).toMatchObject({
        candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
      })
      expect(usageMetadata.cost.toFixed(9).replace(/0+$/, '')).toBe(
        String(answer.headers.get('x-service-cost')),
      )
    },
    waitMs,
  )
})

describe('charges of a stream', () => {
  test.concurrent.each(streamed)(
    '%s',
    async (name, cell) => {
      const answer = await table.run(name, true, cell)
      if (cell.status !== 200) return expectError(answer.body, cell)
      const responses = responsesOf(answer.body)
      const last = responses.at(-1)
      if (cell.event) {
        expect(last).toMatchObject({ error: { code: 502, details: [{ reason: cell.event }] } })
        return expect(JSON.stringify(responses)).not.toContain('finishReason')
      }
      const parts = responses.flatMap(({ candidates: [candidate] }) =>
        Object(candidate?.content).parts.map((part: { text: string }) => part.text),
      )
      expect(parts.join('')).toBe(text)
      expect(last).toMatchObject({
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { cost: expect.any(Number) },
      })
    },
    waitMs,
  )
})
