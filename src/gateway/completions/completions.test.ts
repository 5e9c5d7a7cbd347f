import { afterAll, describe, expect, test } from 'bun:test'

import OpenAI from 'openai'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { serveGateway } from '../../testing/fixtures/gateway.ts'

const t = await startFakeUpstreamServer()
const gus = await t.gus()
const served = serveGateway(t)
afterAll(async () => {
  await served.stop()
  await t.close()
})

const text = fakeText.join('')

describe('a completion', () => {
  const client = () =>
    new OpenAI({ apiKey: gus.key, baseURL: `${served.origin}/v1`, maxRetries: 0 }).completions
  const request = { model: 'fake/ok', prompt: 'Say hello.' }
  const sentMessages = () => Object(t.fake.received.at(-1)?.body).messages

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
    const before = await t.snapshot()
    const response = await gus.call('POST', '/v1/completions', { ...request, ...body })
    expect([response.status, Object(response.body).error.param]).toEqual([400, param])
    expect(await t.snapshot()).toEqual(before)
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
    const received = Object(t.fake.received.at(-1)?.body)
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
    const before = await t.snapshot()
    const response = await gus.call('POST', '/v1/fim/completions', { ...request, ...body })
    expect([response.status, Object(response.body).error.param]).toEqual([400, param])
    expect(await t.snapshot()).toEqual(before)
  })
})
