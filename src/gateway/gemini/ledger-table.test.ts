import { afterAll, describe, expect, test } from 'bun:test'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { nativeStreams } from '../../testing/fakes/native-scripts.ts'
import { type Cell, ChargeTable, plain, streamed } from '../../testing/fixtures/charge-table.ts'
import { nativeCells } from '../../testing/fixtures/native-cells.ts'
import { uploadTo } from '../../testing/fixtures/uploads.ts'

/** All cells run in parallel. */
const waitMs = 30_000
const text = fakeText.join('')

const table = await ChargeTable.open(
  (model, stream) =>
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  () => ({
    contents: [{ parts: [{ text: 'Say hello.' }] }],
    generationConfig: { maxOutputTokens: 50 },
  }),
  'google',
)
afterAll(() => table.close())
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
    .split(/\r?\n\r?\n/)
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => JSON.parse(frame.slice('data: '.length)))

const relayed = nativeCells('google', 'used')

/** The stream of Google as its client gets it. */
const passedStream = nativeStreams.google
  .replaceAll('"modelVersion":"fake"', '"modelVersion":"fake/google-ok"')
  .replaceAll('\r\n', '\n')

describe('charges of a generation', () => {
  test.concurrent.each([...plain, ...relayed.plain])(
    '%s',
    async (name, cell) => {
      const response = await table.run(name, false, cell)
      if (cell.status !== 200) return expectError(response.body, cell)
      const { usageMetadata } = Object(response.body)
      expect(response.body).toMatchObject({
        candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
      })
      expect(usageMetadata.cost.toFixed(9).replace(/0+$/, '')).toBe(
        String(response.headers.get('x-service-cost')),
      )
    },
    waitMs,
  )
})

describe('charges of a stream', () => {
  test.concurrent.each([...streamed, ...relayed.streamed])(
    '%s',
    async (name, cell) => {
      const response = await table.run(name, true, cell)
      if (cell.status !== 200) return expectError(response.body, cell)
      const responses = responsesOf(response.body)
      const last = responses.at(-1)
      if (cell.event) {
        expect(last).toMatchObject({ error: { code: 502, details: [{ reason: cell.event }] } })
        // The end of an empty response is its first event.
        if (name === 'google-empty') return
        return expect(JSON.stringify(responses)).not.toContain('finishReason')
      }
      const parts = responses.flatMap(({ candidates: [candidate] }) =>
        Object(candidate?.content).parts.map((part: { text: string }) => part.text),
      )
      expect(parts.join('')).toBe(text)
      if (name === 'google-ok') expect(response.body).toBe(passedStream)
      if (name.startsWith('google')) return
      expect(last).toMatchObject({
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { cost: expect.any(Number) },
      })
    },
    waitMs,
  )
})

describe('a generation at an upstream of Google', () => {
  const generate = async (model: string, body: object, headers: Record<string, string> = {}) => {
    const gus = await table.patient.gus()
    const response = await gus.call('POST', `/v1beta/models/fake/${model}`, body, headers)
    return { gus, ...response, use: (await table.patient.lastUse(gus)).use }
  }
  const contents = [{ role: 'user', parts: [{ text: 'Say hello.' }] }]
  const signatureBytes = 10_000

  test('the upstream receives the request unchanged, except fields that cost more', async () => {
    const call = { functionCall: { name: 'depth', args: { place: 'cape' } } }
    const result = { functionResponse: { name: 'depth', response: { output: 9 } } }
    const turns = [
      ...contents,
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true, thoughtSignature: 'thought' },
          { text: 'I look.', thoughtSignature: 't'.repeat(signatureBytes) },
          { ...call, thoughtSignature: 'call' },
        ],
      },
      { role: 'user', parts: [result] },
    ]
    const declarations = [{ name: 'depth', parametersJsonSchema: { type: 'object' } }]
    const body = {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: declarations }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      generationConfig: { maxOutputTokens: 50, thinkingConfig: { includeThoughts: true } },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }],
    }
    const unsigned = { role: 'model', parts: [{ text: 'Unsigned.', thought: true }] }
    const priced = {
      service_tier: 'priority',
      labels: { team: 'a' },
      models: [],
      codeExecution: [],
    }
    const response = await generate('google-ok:generateContent', {
      ...body,
      ...priced,
      contents: [...turns, unsigned],
    })
    expect(response.headers.get('x-ignored-fields')).toBe('labels, serviceTier')
    const { path, body: received, headers } = table.patient.fake.received.at(-1) ?? {}
    expect(response.status).toBe(200)
    // The chat does not have this signature, which the model reads.
    expect(response.use?.held).toBeGreaterThan(BigInt(signatureBytes) * 1_000n)
    expect(path).toBe('/v1/fake/google-ok:generateContent')
    expect(headers?.['x-goog-api-key']).toBe('sk-fake')
    expect(received).toEqual({ ...body, contents: turns })
  })

  test('a response is passed on with its cost', async () => {
    const { body, use, headers } = await generate('google-ok:generateContent', { contents })
    const cost = Number(use?.charged) / 1e9
    expect(body).toMatchObject({
      candidates: [{ content: { parts: [{ text }] }, index: 0, finishReason: 'STOP' }],
      modelVersion: 'fake/google-ok',
      usageMetadata: { promptTokenCount: 11, thoughtsTokenCount: 2, cost },
    })
    expect(Number(headers.get('x-service-cost'))).toBe(cost)
  })

  test('an uploaded file becomes text, which only the translated request has', async () => {
    const gus = await table.patient.gus()
    const id = await uploadTo(table.patient, gus, 'The tide is high.', 'tide.txt')
    const parts = [{ text: 'Read it.' }, { fileData: { fileUri: `files/${id}` } }]
    const path = '/v1beta/models/fake/google-ok:generateContent'
    const { status } = await gus.call('POST', path, { contents: [{ parts }] })
    const { text: received } = table.patient.fake.received.at(-1) ?? {}
    expect([status, received?.includes('The tide is high.')]).toEqual([200, true])
    expect(received).not.toContain(id)
  })

  test('a repeated stream is replayed, and a fallback receives a translated request', async () => {
    const key = { 'idempotency-key': 'native-1' }
    const path = 'google-ok:streamGenerateContent?alt=sse'
    const { gus, body: first } = await generate(path, { contents }, key)
    const again = await gus.call('POST', `/v1beta/models/fake/${path}`, { contents }, key)
    expect([first, again.body]).toEqual([passedStream, passedStream])
    for (const [model, fallback] of [
      ['google-503', 'ok'],
      ['503', 'google-ok'],
    ]) {
      const body = { contents, models: [`fake/${fallback}`] }
      const whole = await generate(`${model}:generateContent`, body)
      expect(whole.use?.model).toBe(`fake/${fallback}`)
      expect(whole.body).toMatchObject({ candidates: [{ content: { parts: [{ text }] } }] })
      const streamed = await generate(`${model}:streamGenerateContent?alt=sse`, body)
      expect(streamed.body === passedStream).toBe(fallback === 'google-ok')
      expect(responsesOf(streamed.body).at(-1)).toMatchObject({
        candidates: [{ finishReason: 'STOP' }],
      })
    }
  })
})
