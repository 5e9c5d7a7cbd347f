import { afterAll, expect, test } from 'bun:test'

import { startWithProviders } from '../../../testing/fixtures/with-providers.ts'

/** A fake Gemini that reports the prompt tokens by modality. */
const usageMetadata = {
  promptTokenCount: 1_010,
  candidatesTokenCount: 20,
  totalTokenCount: 1_030,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 10 },
    { modality: 'AUDIO', tokenCount: 1_000 },
  ],
}
const content = { role: 'model', parts: [{ text: 'A bell.' }] }
const result = { candidates: [{ content, finishReason: 'STOP' }], usageMetadata }

const gemini = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) =>
    url.includes('streamGenerateContent')
      ? new Response(`data: ${JSON.stringify(result)}\n\n`, {
          headers: { 'content-type': 'text/event-stream' },
        })
      : Response.json(result),
})
const ctx = await startWithProviders([
  {
    id: 'gemini/hears',
    kind: 'google',
    model: 'gemini-2.5-flash',
    inputs: ['text', 'audio'],
    baseUrl: `http://127.0.0.1:${gemini.port}/v1beta`,
    price: { prompt: '0.0000003', completion: '0.0000025', audio: '0.000001' },
  },
])
afterAll(async () => {
  await ctx.close()
  await gemini.stop(true)
})

const input_audio = { data: Buffer.alloc(60).toString('base64'), format: 'wav' }
const sound = { type: 'input_audio', input_audio }
const words = { type: 'text', text: 'What is this?' }
const ask = async (parts: object[], more: object = {}) => {
  const gus = await ctx.gus()
  const messages = [{ role: 'user', content: parts }]
  const body = { model: 'gemini/hears', messages, max_tokens: 100, ...more }
  const response = await gus.call('POST', '/v1/chat/completions', body)
  expect(response.status).toBe(200)
  return { body: Object(response.body), use: await ctx.lastUse(gus) }
}

test.each([{}, { stream: true }])('charges audio tokens at their own price (%p)', async (more) => {
  const { use } = await ask([words, sound], more)
  // 10 text tokens, 1,000 audio tokens, 20 output tokens.
  expect<bigint>(use.charged).toBe(3_000n + 1_000_000n + 50_000n)
  expect(use.estimated).toBe(false)
  expect(await ctx.findProblems()).toEqual([])
})

test('reports audio tokens and includes them in the hold', async () => {
  const transcript = await ask([words, sound])
  expect(transcript.body.usage.prompt_tokens_details).toMatchObject({ audio_tokens: 1_000 })
  const read = await ask([words, { type: 'text', text: 'x'.repeat(140) }])
  expect(Number(transcript.use.held) / Number(read.use.held)).toBeGreaterThan(2)
})

test('lists the audio price in the catalog', async () => {
  const { body } = await ctx.request('GET', '/v1/models/gemini/hears')
  expect(Object(body).price).toMatchObject({ prompt: '0.0000003', audio: '0.000001' })
})
