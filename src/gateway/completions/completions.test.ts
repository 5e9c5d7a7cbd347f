import { afterAll, describe, expect, test } from 'bun:test'

import OpenAI from 'openai'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { type Cell, ChargeTable, plain, streamed } from '../../testing/fixtures/charge-table.ts'
import { serveGateway } from '../../testing/fixtures/gateway.ts'

const table = await ChargeTable.open('/v1/completions', (model, stream) => ({
  model,
  prompt: 'Say hello.',
  stream,
  max_tokens: 50,
  ...(stream && { stream_options: { include_usage: true } }),
}))
const gus = await table.patient.gus()
const served = serveGateway(table.patient)
afterAll(async () => {
  await served.stop()
  await table.close()
})

/** All cells run in parallel. */
const waitMs = 30_000
const text = fakeText.join('')

describe('charges', () => {
  const expectError = (body: unknown, { code }: Cell): void =>
    expect(body).toMatchObject({ error: { message: expect.any(String), ...(code && { code }) } })

  test.concurrent.each(plain)(
    'of a completion: %s',
    async (name, cell) => {
      const { body } = await table.run(name, false, cell)
      if (cell.status !== 200) return expectError(body, cell)
      expect(body).toMatchObject({ object: 'text_completion', choices: [{ text, index: 0 }] })
    },
    waitMs,
  )

  test.concurrent.each(streamed)(
    'of a stream: %s',
    async (name, cell) => {
      const { body } = await table.run(name, true, cell)
      if (cell.status !== 200) return expectError(body, cell)
      if (!cell.event) return expect(String(body)).toContain('[DONE]')
      expect(String(body)).toContain(cell.event)
      expect(String(body)).not.toContain('[DONE]')
    },
    waitMs,
  )
})

describe('a completion', () => {
  const client = () =>
    new OpenAI({ apiKey: gus.key, baseURL: `${served.origin}/v1`, maxRetries: 0 }).completions
  const request = { model: 'fake/ok', prompt: 'Say hello.' }
  const sentMessages = () => Object(table.patient.fake.received.at(-1)?.body).messages

  test('arrives whole and in parts in OpenAI’s client, with the prompt if wanted', async () => {
    const whole = await client().create({ ...request, echo: true })
    expect(whole.choices).toMatchObject([{ text: `Say hello.${text}`, finish_reason: 'stop' }])
    expect(sentMessages()[1]).toEqual({ role: 'user', content: 'Say hello.' })
    const parts = await client().create({ ...request, echo: true, stream: true })
    const texts = await Array.fromAsync(parts)
    expect(texts.map(({ choices: [choice] }) => choice?.text ?? '').join('')).toBe(
      `Say hello.${text}`,
    )
  })

  test('fills the gap before a suffix', async () => {
    await client().create({ ...request, prompt: 'function add(', suffix: ') {}' })
    expect(sentMessages()[1]).toEqual({ role: 'user', content: 'function add(<gap/>) {}' })
  })

  test.each([
    [{ prompt: undefined }, 'prompt'],
    [{ prompt: '' }, 'prompt'],
    [{ prompt: ['a', 'b'] }, 'prompt'],
    [{ prompt: [1, 2] }, 'prompt'],
    [{ suffix: 7 }, 'suffix'],
    [{ best_of: 3 }, 'best_of'],
    [{ logprobs: 5 }, 'logprobs'],
    [{ grammar: 'x' }, 'grammar'],
  ])('rejects %j, naming %s, before anything is held', async (body, param) => {
    const before = await table.patient.snapshot()
    const response = await gus.call('POST', '/v1/completions', { ...request, ...body })
    expect([response.status, Object(response.body).error.param]).toEqual([400, param])
    expect(await table.patient.snapshot()).toEqual(before)
  })
})

describe('a gap (Mistral, POST /v1/fim/completions)', () => {
  const request = { model: 'fake/ok', prompt: 'def add(', suffix: '  return a + b' }

  test('is filled by a chat, whole and in parts, with the usage at the end', async () => {
    const whole = await gus.call('POST', '/v1/fim/completions', { ...request, random_seed: 7 })
    expect(whole.body).toMatchObject({
      object: 'chat.completion',
      model: 'fake/ok',
      choices: [{ message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 11, completion_tokens: 7 },
    })
    const received = Object(table.patient.fake.received.at(-1)?.body)
    expect(received).toMatchObject({
      seed: 7,
      messages: [{}, { role: 'user', content: 'def add(<gap/>  return a + b' }],
    })
    const { body } = await gus.call('POST', '/v1/fim/completions', { ...request, stream: true })
    const chunks = String(body)
      .split('\n\n')
      .flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6))] : []))
    expect(chunks.map(({ choices: [choice] }) => choice?.delta?.content ?? '').join('')).toBe(text)
    // Mistral's clients read the usage from the chunk that ends the choice.
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      usage: { prompt_tokens: 11 },
    })
  })

  test.each([
    [{ prompt: '' }, 'prompt'],
    [{ min_tokens: 5 }, 'min_tokens'],
    [{ grammar: 'x' }, 'grammar'],
  ])('rejects %j, naming %s, before anything is held', async (body, param) => {
    const before = await table.patient.snapshot()
    const response = await gus.call('POST', '/v1/fim/completions', { ...request, ...body })
    expect([response.status, Object(response.body).error.param]).toEqual([400, param])
    expect(await table.patient.snapshot()).toEqual(before)
  })
})
