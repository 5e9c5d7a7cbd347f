import { afterAll, describe, expect, test } from 'bun:test'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { nativeStreams } from '../../testing/fakes/native-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { uploadTo } from '../../testing/fixtures/uploads.ts'

const t = await startFakeUpstreamServer({}, [], {}, 'google')
afterAll(() => t.close())
const text = fakeText.join('')

const responsesOf = (body: unknown): { candidates: Record<string, unknown>[] }[] =>
  String(body)
    .split(/\r?\n\r?\n/)
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => JSON.parse(frame.slice('data: '.length)))

/** The stream of Google as its client gets it. */
const passedStream = nativeStreams.google
  .replaceAll('"modelVersion":"fake"', '"modelVersion":"fake/google-ok"')
  .replaceAll('\r\n', '\n')

describe('a generation at an upstream of Google', () => {
  const generate = async (model: string, body: object, headers: Record<string, string> = {}) => {
    const gus = await t.gus()
    const response = await gus.call('POST', `/v1beta/models/fake/${model}`, body, headers)
    return { gus, ...response, use: (await t.lastUse(gus)).use }
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
    const { path, body: received, headers } = t.fake.received.at(-1) ?? {}
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
    const gus = await t.gus()
    const id = await uploadTo(t, gus, 'The tide is high.', 'tide.txt')
    const parts = [{ text: 'Read it.' }, { fileData: { fileUri: `files/${id}` } }]
    const path = '/v1beta/models/fake/google-ok:generateContent'
    const { status } = await gus.call('POST', path, { contents: [{ parts }] })
    const { text: received } = t.fake.received.at(-1) ?? {}
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
