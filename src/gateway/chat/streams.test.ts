import { afterAll, describe, expect, test } from 'bun:test'

import { fromCredits } from '../../kernel/money.ts'
import { fakeText, scripts, type Step } from '../../testing/fakes/chat-scripts.ts'
import type { Received } from '../../testing/fakes/upstream.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { until } from '../../testing/until.ts'
import { chargeOf } from '../models/charge.ts'
import type { Use } from '../models/history.ts'
import { createUsage } from '../models/usage.ts'

const whole = scripts.ok?.stream ?? []
const headers = 1
/** Six words, the finish, the usage, [DONE]. */
const pieces = 9
const usageAt = 8
const host = 'models.example'

const hang: Step = { do: 'hang' }

const names = Array.from({ length: pieces }, (_, cut) => `cut-${cut}`)
const models = [...names, 'silent', 'slow'].map((name) => ({
  ...fakeModel('ok', { id: `fake/${name}` }),
  offers: fakeModel('ok').offers.map((offer) => ({ ...offer, model: `fake/${name}` })),
}))
const faked = await startFakeUpstreamServer({ GATEWAY_URL: `http://${host}/gateway` }, models)
for (const [cut, name] of names.entries()) {
  faked.fake.script(`fake/${name}`, [...whole.slice(0, headers + cut), hang])
}
faked.fake.script('fake/silent', [hang])
afterAll(() => faked.close())
const messages = [{ role: 'user', content: 'Say hello.' }]

interface Left {
  use: Use
  received: Received
  /** The text that had arrived when the client left. */
  seen: string
}

/** Calls a model, leaves after a number of events, and returns the outcome. */
async function leave(
  gus: GatewayUser,
  model: string,
  events: number,
  more: object = {},
): Promise<Left> {
  const before = faked.fake.received.length
  const client = new AbortController()
  const body = { model, messages, stream: true, stream_options: { include_usage: true }, ...more }
  const calling = fetch(`${faked.origin}/gateway/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gus.key}`, host, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: client.signal,
  })
  const received = await faked.fake.arrival(before)
  let seen = ''
  if (events > 0) {
    const decoder = new TextDecoder()
    for await (const chunk of (await calling).body?.values({ preventCancel: true }) ?? []) {
      seen += decoder.decode(chunk, { stream: true })
      if (seen.split('data: ').length > events) break
    }
  }
  client.abort()
  await calling.then(
    () => undefined,
    () => undefined,
  )
  // Only the client ends it: the fake hangs, and the gateway's deadlines are minutes.
  await received.ended
  expect(received.left).toBe(true)
  return { use: await until(async () => (await faked.lastUse(gus)).use), received, seen }
}

const costs = (parts: Parameters<typeof createUsage>[0]) => {
  const price = faked.ctx.catalog.find('fake/ok')?.model.price
  if (!price) throw new Error('no price')
  return chargeOf(price, createUsage(parts))
}

async function expectPaid(gus: GatewayUser, use: Use): Promise<void> {
  expect(use.charged).toBeGreaterThan(0n)
  expect(use.charged).toBeLessThanOrEqual(use.held)
  expect((await faked.lastUse(gus)).total).toBe(1)
  expect(await faked.findProblems(gus)).toEqual([])
  const { balance } = Object((await gus.call('POST', '/credits/balance', {})).body)
  expect(balance).toBe(Number(fromCredits(1_000) - use.charged) / 1e9)
}

describe('a client that leaves a stream', () => {
  test('before the first byte pays for the prompt', async () => {
    for (const model of ['fake/silent', 'fake/cut-0']) {
      const gus = await faked.gus()
      const { use } = await leave(gus, model, 0)
      expect(use).toMatchObject({ status: 'interrupted', estimated: true, output: 0 })
      expect(use.charged).toBe(costs({ prompt: use.input }))
      await expectPaid(gus, use)
    }
  })

  for (let cut = 1; cut < usageAt; cut += 1) {
    test(`after ${cut} events pays for them by the gateway's count`, async () => {
      const gus = await faked.gus()
      const { use, seen } = await leave(gus, `fake/cut-${cut}`, cut)
      expect(use).toMatchObject({ status: 'interrupted', estimated: true })
      expect(use.output).toBeGreaterThan(0)
      expect(use.charged).toBe(costs({ prompt: use.input, completion: use.output }))
      expect(seen).toContain(String(fakeText[Math.min(cut, fakeText.length) - 1]).trim())
      await expectPaid(gus, use)
    })
  }

  test('after the usage event pays exactly that', async () => {
    const gus = await faked.gus()
    const { use, seen } = await leave(gus, `fake/cut-${usageAt}`, usageAt)
    expect(seen).toContain('"prompt_tokens":11')
    expect(use).toMatchObject({ input: 11, cached: 4, output: 7, reasoning: 2, estimated: false })
    expect(use.charged).toBe(costs({ prompt: 11, cached: 4, completion: 7, reasoning: 2 }))
    await expectPaid(gus, use)
  })

  test('is detected in a completion too', async () => {
    const gus = await faked.gus()
    const { use } = await leave(gus, 'fake/silent', 0, { stream: false, stream_options: undefined })
    expect(use).toMatchObject({ status: 'interrupted', estimated: true, output: 0 })
    await expectPaid(gus, use)
  })

  test('is served when it retries, whole or streamed', async () => {
    const gus = await faked.gus()
    for (const stream of [false, true]) {
      for (const _ of [1, 2]) {
        const more = { stream, stream_options: undefined }
        expect((await leave(gus, 'fake/silent', 0, more)).received.left).toBe(true)
      }
    }
    await until(async () => (await faked.lastUse(gus)).total === 4)
    expect(await faked.findProblems(gus)).toEqual([])
  })
})

describe('a whole stream', () => {
  const stream = async (gus: GatewayUser, more: object = {}) => {
    const body = { model: 'fake/ok', messages, stream: true, ...more }
    const response = await gus.call('POST', '/chat/completions', body)
    return { response, text: String(response.body) }
  }
  const sent = (piece: Step): string => ('send' in piece ? String(piece.send) : '')
  const wire = whole
    .slice(1, -2)
    .map((step) => sent(step).replace(/^[0-9a-f]+\r\n|\r\n$/g, ''))
    .map((event) => event.replace('"model":"fake"', '"model":"fake/ok"'))

  test('has the bytes of the upstream with the id of the model, and the usage with its cost only on request', async () => {
    const gus = await faked.gus()
    const requests = await stream(gus, { stream_options: { include_usage: true } })
    const { use } = await faked.lastUse(gus)
    const cost = Number(use?.charged) / 1e9
    const priced = wire.map((event, at) =>
      at === usageAt - 1 ? event.replace('}}\n', `,"cost":${cost}}}\n`) : event,
    )
    expect(requests.text).toBe(priced.join(''))
    expect(requests.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const asOpenRouter = await stream(gus, { usage: { include: true } })
    expect(asOpenRouter.text).toBe(requests.text)
    expect(faked.fake.received.at(-1)?.body).not.toHaveProperty('usage')
    const unasked = await stream(gus)
    expect(unasked.text).toBe(wire.filter((_, at) => at !== usageAt - 1).join(''))
    expect(faked.fake.received.at(-1)?.body).toMatchObject({
      stream_options: { include_usage: true },
      messages,
    })
  })

  test("ends with the gateway's count where the upstream reported none and the client wants it", async () => {
    const gus = await faked.gus()
    const more = { model: 'fake/usage-missing', stream_options: { include_usage: true } }
    const { text } = await stream(gus, more)
    const [usage = '', done] = text.trim().split('\n\n').slice(-2)
    expect(done).toBe('data: [DONE]')
    const chunk = JSON.parse(usage.slice('data: '.length))
    const { use } = await faked.lastUse(gus)
    expect(chunk).toMatchObject({ object: 'chat.completion.chunk', choices: [] })
    expect(chunk.usage).toMatchObject({
      prompt_tokens: use?.input,
      completion_tokens: use?.output,
      cost: Number(use?.charged) / 1e9,
    })
  })

  test.each(['usage-cost', 'usage-float'])(
    'reports what was charged, not what %s says',
    async (name) => {
      const gus = await faked.gus()
      const more = { model: `fake/${name}`, stream_options: { include_usage: true } }
      const { text } = await stream(gus, more)
      const [usage = ''] = text.trim().split('\n\n').slice(-2)
      const { use } = await faked.lastUse(gus)
      expect(JSON.parse(usage.slice('data: '.length)).usage).toEqual({
        prompt_tokens: use?.input,
        completion_tokens: use?.output,
        total_tokens: 18,
        prompt_tokens_details: expect.objectContaining({ cached_tokens: use?.cached }),
        completion_tokens_details: expect.objectContaining({ reasoning_tokens: use?.reasoning }),
        cost: Number(use?.charged) / 1e9,
      })
    },
  )

  test('is replayed under its Idempotency-Key and charged once, also where it broke off', async () => {
    const gus = await faked.gus()
    for (const [at, model] of ['fake/ok', 'fake/error-event', 'fake/reset-middle'].entries()) {
      const body = { model, messages, stream: true }
      const again = () =>
        gus.call('POST', '/v1/chat/completions', body, { 'idempotency-key': model })
      const first = await again()
      const second = await again()
      expect(String(second.body)).toContain(
        model === 'fake/ok' ? '[DONE]' : 'upstream_stream_error',
      )
      expect(second.body).toBe(first.body)
      expect(second.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      expect((await faked.lastUse(gus)).total).toBe(at + 1)
    }
    expect(await faked.findProblems(gus)).toEqual([])
  })

  test('continues under its Idempotency-Key when its client leaves, and is charged once', async () => {
    const gus = await faked.gus()
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    const [head, word, ...rest] = whole
    if (!head || !word) throw new Error('there is no script of a stream')
    faked.fake.script('fake/slow', [head, word, { until: left }, ...rest])
    const body = { model: 'fake/slow', messages, stream: true }
    const key = { 'idempotency-key': 'left-1' }
    const client = new AbortController()
    const { body: bytes } = await fetch(`${faked.origin}/gateway/v1/chat/completions`, {
      method: 'POST',
      headers: { ...key, authorization: `Bearer ${gus.key}`, host },
      body: JSON.stringify(body),
      signal: client.signal,
    })
    await bytes?.getReader().read()
    client.abort()
    const again = () => gus.call('POST', '/v1/chat/completions', body, key)
    expect((await again()).status).toBe(409)
    leave()
    const kept = await until(async () => {
      const response = await again()
      return response.status === 409 ? undefined : response
    })
    const { use } = await faked.lastUse(gus)
    expect(use).toMatchObject({ status: 'completed', input: 11, output: 7, estimated: false })
    const other = (await stream(gus)).text.replaceAll('fake/ok', 'fake/slow')
    expect(kept.body).toBe(other)
    expect((await faked.lastUse(gus)).total).toBe(2)
    expect(await faked.findProblems(gus)).toEqual([])
  })
})
