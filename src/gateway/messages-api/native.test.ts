import { afterAll, describe, expect, test } from 'bun:test'

import { claudeScripts, claudeText } from '../../testing/fakes/provider-scripts.ts'
import { startFakeUpstream } from '../../testing/fakes/upstream.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { providerKey, startWithProviders } from '../../testing/fixtures/with-providers.ts'
import { chargeOf } from '../models/charge.ts'
import { createUsage } from '../models/usage.ts'

const common = 'reset-first close-first bad-headers gzip-bomb html bad-json empty redirect hang'
const names = [...common.split(' '), ...Object.keys(claudeScripts)]
const text = claudeText.join('')

const fake = startFakeUpstream()
const models = names.map((name) => ({
  id: `fake/${name}`,
  kind: 'anthropic',
  baseUrl: fake.baseUrl,
}))
const deadlines = { GATEWAY_FIRST_BYTE_SECONDS: '3', GATEWAY_TOTAL_SECONDS: '4' }
const ctx = await startWithProviders(models, deadlines)
const gus = await ctx.gus('5')
// The first request loads the package that translates, which takes longer than these deadlines.
await import('@ai-sdk/anthropic')
afterAll(async () => {
  fake.close()
  await ctx.close()
})

const basic = { max_tokens: 50, messages: [{ role: 'user', content: 'Say hello.' }] }

interface Charge {
  status: number
  charged: bigint
  held: bigint
  estimated: boolean
}

async function chargeAt(
  path: string,
  name: string,
  stream: boolean,
  gus: GatewayUser,
): Promise<Charge & { body: unknown }> {
  const { status, body } = await gus.call('POST', path, { ...basic, model: `fake/${name}`, stream })
  const { charged, held, estimated } = await ctx.lastUse(gus)
  expect(JSON.stringify([body, ctx.warnings])).not.toContain(providerKey)
  return { status, charged, held, estimated, body }
}

/** Kinds of charges. Both endpoints have different bodies, so their holds differ. */
const kindOf = ({ status, charged, held, estimated }: Charge): unknown => ({
  status,
  estimated,
  charge: charged === 0n ? 'nothing' : charged === held ? 'hold' : 'part',
})

const exact = ['claude-ok', 'claude-unknown-event']
const unstreamed = ['claude-usage-null', 'claude-usage-text', 'empty', 'bad-json', 'gzip-bomb']

for (const stream of [false, true]) {
  describe(`a relayed ${stream ? 'stream' : 'message'} is charged like its translation`, () => {
    const own = names.filter((name) => {
      if (name in claudeScripts) {
        const steps = claudeScripts[name]?.[stream ? 'stream' : 'plain'] ?? []
        return steps.length > 0
      }
      return stream ? !unstreamed.includes(name) : name !== 'empty'
    })
    const isCharged = async (name: string): Promise<void> => {
      // An account of its own, because some run side by side.
      const ned = await ctx.gus('5')
      const chat = await chargeAt('/v1/chat/completions', name, stream, ned)
      const message = await chargeAt('/v1/messages', name, stream, ned)
      expect(kindOf(message)).toEqual(kindOf(chat))
      if (!exact.includes(name)) return
      expect(message.charged).toBe(chat.charged)
      const price = ctx.ctx.catalog.find(`fake/${name}`)?.model.price
      const used = createUsage({ prompt: 11, cached: 4, cacheWrite: 2, completion: 7 })
      if (!price) throw new Error('no price')
      expect(message.charged).toBe(chargeOf(price, used))
    }
    const waits = (name: string): boolean => name.includes('hang')
    test.concurrent.each(own.filter(waits))('%s', isCharged)
    test.each(own.filter((name) => !waits(name)))('%s', isCharged)
  })
}

test('a stream is passed on byte by byte, and replayed', async () => {
  const body = { ...basic, model: 'fake/claude-ok', stream: true }
  const headers = { 'idempotency-key': 'native-1' }
  const first = await gus.call('POST', '/v1/messages', body, headers)
  const frames = String(first.body).trim().split('\n\n')
  const types = frames.map((frame) => frame.split('\n')[0])
  expect(types).toEqual([
    'event: message_start',
    'event: content_block_start',
    ...claudeText.map(() => 'event: content_block_delta'),
    'event: content_block_stop',
    'event: message_delta',
    'event: message_stop',
  ])
  expect(frames[0]).toContain('"id":"msg_fake"')
  expect((await gus.call('POST', '/v1/messages', body, headers)).body).toEqual(first.body)
  const chat = await gus.call('POST', '/v1/chat/completions', body, headers)
  expect([chat.status, chat.code]).toEqual([409, 'idempotency_conflict'])
})

test('a message is passed on with its cost', async () => {
  const body = { ...basic, model: 'fake/claude-ok' }
  const { body: message, headers } = await gus.call('POST', '/v1/messages', body)
  const { charged } = await ctx.lastUse(gus)
  expect(message).toMatchObject({
    id: 'msg_fake',
    content: [{ type: 'text', text }],
    usage: { input_tokens: 5, output_tokens: 7, cost: Number(charged) / 1e9 },
  })
  expect(Number(headers.get('x-service-cost'))).toBe(Number(charged) / 1e9)
})

test('an error in mid-stream has the format of Anthropic', async () => {
  for (const name of ['claude-error', 'claude-cut']) {
    const { body } = await chargeAt('/v1/messages', name, true, gus)
    const last = String(body).trim().split('\n\n').at(-1) ?? ''
    expect(last).toStartWith('event: error\ndata: {"type":"error"')
    expect(String(body)).not.toContain('message_stop')
  }
})

test('the upstream receives the request itself, without what would cost more', async () => {
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const mark = { cache_control: { type: 'ephemeral' } }
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Say hello.', ...hour }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Unsigned.', signature: '' },
        { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
        { type: 'text', text: 'Hello.' },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'document',
          source: { type: 'content', content: [{ type: 'text', text: 'Again.', ...hour }] },
        },
      ],
    },
  ]
  const headers = {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'effort-2025-11-24,fast-mode-2026-02-01,context-1m-2025-08-07',
  }
  const body = {
    ...basic,
    model: 'fake/claude-ok',
    messages,
    system: [{ type: 'text', text: 'Be brief.', ...hour }],
    tools: [{ name: 'Read', input_schema: { type: 'object' }, ...hour }],
    metadata: { user_id: 'one' },
    service_tier: 'auto',
    provider: {},
    thinking: { type: 'adaptive' },
  }
  const { status } = await gus.call('POST', '/v1/messages', body, headers)
  expect(status).toBe(200)
  const received = fake.received.at(-1)
  const [question, response, ...rest] = messages
  expect(received?.body).toEqual({
    model: 'fake/claude-ok',
    max_tokens: 50,
    system: [{ type: 'text', text: 'Be brief.', ...mark }],
    tools: [{ name: 'Read', input_schema: { type: 'object' }, ...mark }],
    messages: [
      { ...question, content: [{ type: 'text', text: 'Say hello.', ...mark }] },
      {
        role: 'assistant',
        content: Array.isArray(response?.content) ? response.content.slice(1) : [],
      },
      JSON.parse(JSON.stringify(rest[0]).replaceAll(',"ttl":"1h"', '')),
    ],
    metadata: { user_id: 'one' },
    thinking: { type: 'adaptive' },
  })
  expect(received?.headers['anthropic-beta']).toBe('effort-2025-11-24')
})

test('the hold covers what only the upstream receives', async () => {
  const heldFor = async (block: object) => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Say hello.' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Again.' }, block] },
    ]
    const body = { ...basic, model: 'fake/claude-ok', messages }
    expect((await gus.call('POST', '/v1/messages', body)).status).toBe(200)
    return (await ctx.lastUse(gus)).held
  }
  const plain = await heldFor({ type: 'text', text: 'Please.' })
  const cited = await heldFor({ type: 'text', text: 'Please.', citations: ['x'.repeat(20_000)] })
  // The price of a token is 1,000 nano-USD.
  expect(cited - plain).toBeGreaterThan(20_000_000n)
})
