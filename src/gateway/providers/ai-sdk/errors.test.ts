import { afterAll, describe, expect, test } from 'bun:test'

import { scripts } from '../../../testing/fakes/chat-scripts.ts'
import {
  claudeScripts,
  claudeText,
  cohereScripts,
} from '../../../testing/fakes/provider-scripts.ts'
import { startFakeUpstream } from '../../../testing/fakes/upstream.ts'
import { providerKey, startWithProviders } from '../../../testing/fixtures/with-providers.ts'
import { chargeOf } from '../../models/charge.ts'
import { createUsage } from '../../models/usage.ts'

/** HTTP failures that are the same for all kinds of providers. */
const common = 'reset-first close-first bad-headers gzip-bomb html bad-json empty redirect hang'
const names = [...common.split(' '), ...Object.keys(claudeScripts), ...Object.keys(cohereScripts)]

const fake = startFakeUpstream()
const models = names.map((name) => ({
  id: `fake/${name}`,
  kind: name in cohereScripts ? 'cohere' : 'anthropic',
  baseUrl: fake.baseUrl,
}))
const deadlines = { GATEWAY_FIRST_BYTE_SECONDS: '3', GATEWAY_TOTAL_SECONDS: '4' }
const ctx = await startWithProviders(models, deadlines)
const gus = await ctx.gus('5')
afterAll(async () => {
  fake.close()
  await ctx.close()
})

interface Cell {
  status: number
  charge: 'used' | 'own' | 'nothing' | 'hold' | 'carried'
  code?: string
  event?: string
}

const nothing = (status: number, code?: string): Cell => ({
  status,
  charge: 'nothing',
  ...(code ? { code } : {}),
})
const unread: Cell = { status: 502, charge: 'hold', code: 'unreadable_response' }
const late: Cell = { status: 504, charge: 'hold', code: 'deadline_exceeded' }
const broken: Cell = { status: 200, charge: 'carried', event: 'upstream_stream_error' }

const same: [string, Cell][] = [
  ['reset-first', nothing(502)],
  ['close-first', nothing(502)],
  ['redirect', nothing(502)],
  ['hang', late],
  ['claude-ok', { status: 200, charge: 'used' }],
  ['claude-429', nothing(429)],
  ['claude-529', nothing(502)],
  ['claude-401', nothing(503)],
  ['claude-poor', nothing(503)],
  ['claude-400', nothing(400)],
  ['claude-404', nothing(400)],
  ['claude-filter', nothing(400, 'content_policy_violation')],
  ['claude-refusal', nothing(400, 'content_policy_violation')],
]

const plain: [string, Cell][] = [
  ...same,
  ['claude-usage-null', { status: 200, charge: 'own' }],
  ['cohere-usage-missing', { status: 200, charge: 'own' }],
  ['claude-usage-text', { status: 200, charge: 'own' }],
  ['bad-headers', unread],
  ['gzip-bomb', unread],
  ['html', unread],
  ['bad-json', unread],
  ['claude-cut', unread],
  ['claude-reset', unread],
  ['claude-hang', late],
]

const streamed: [string, Cell][] = [
  ...same,
  ['empty', nothing(502)],
  ['html', broken],
  ['claude-error-first', nothing(502)],
  ['claude-unknown-event', { status: 200, charge: 'used' }],
  ['claude-cut', broken],
  ['claude-reset', broken],
  ['claude-hang', broken],
  ['claude-error', broken],
  ['claude-bad-json', broken],
]

/** A usage with cached tokens: 5 new, 4 read, 2 written, 7 output tokens. */
const used = createUsage({ prompt: 11, cached: 4, cacheWrite: 2, completion: 7 })

async function run(name: string, stream: boolean, cell: Cell) {
  const messages = [{ role: 'user', content: 'Say hello.' }]
  const body = { model: `fake/${name}`, messages, stream, max_tokens: 50 }
  const response = await gus.call('POST', '/v1/chat/completions', body)
  const use = await ctx.lastUse(gus)
  const price = ctx.ctx.catalog.find(`fake/${name}`)?.model.price
  if (!price) throw new Error('no price')
  const isCharged = {
    used: use.charged === chargeOf(price, used),
    own: use.estimated && use.output > 0 && use.charged > 0n && use.charged < use.held,
    nothing: use.charged === 0n,
    hold: use.charged === use.held && use.held > 0n,
    carried: use.charged > 0n && use.charged < use.held,
  }
  expect([response.status, cell.charge, isCharged[cell.charge], use.charged]).toEqual([
    cell.status,
    cell.charge,
    true,
    use.charged,
  ])
  const text = JSON.stringify([response.body, ctx.warnings])
  expect(text).not.toContain(providerKey)
  if (cell.code) expect(response.code).toBe(cell.code)
  if (cell.event) {
    expect(text).toContain(cell.event)
    expect(text).not.toContain('[DONE]')
  }
  expect(await ctx.findProblems()).toEqual([])
  return response
}

describe('plain', () => {
  test.each(plain)('%s', async (name, cell) => {
    const response = await run(name, false, cell)
    if (name === 'claude-429') expect(response.headers.get('retry-after')).toBe('7')
  })
})

describe('streamed', () => {
  test.each(streamed)('%s', async (name, cell) => {
    const { body } = await run(name, true, cell)
    if (cell.charge === 'used') expect(String(body)).toEndWith('data: [DONE]\n\n')
  })
})

test('charges the prompt that the provider reported before a stream broke off', async () => {
  await run('claude-cut', true, broken)
  expect(await ctx.lastUse(gus)).toMatchObject({ input: 11, cached: 4, estimated: true })
})

test('covers all scripts of common failures and follows no redirect', () => {
  expect(common.split(' ').filter((name) => !(name in scripts))).toEqual([])
  expect(fake.canaryTouched()).toBe(0)
})

test('aborts the provider when the client leaves', async () => {
  const leaving = new AbortController()
  const response = await fetch(`${ctx.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gus.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'fake/claude-hang',
      stream: true,
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Say hello.' }],
    }),
    signal: leaving.signal,
  })
  const reader = response.body?.getReader()
  let text = ''
  while (!text.includes(claudeText[0] ?? '')) {
    text += new TextDecoder().decode((await reader?.read())?.value)
  }
  const sent = fake.received.at(-1)
  leaving.abort()
  await sent?.ended
  expect(sent?.left).toBe(true)
})

test.each([
  ['declined', { candidates: [{ index: 0, finishReason: 'SAFETY' }] }],
  ['failed', { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } }],
])('of a Gemini that %s in mid-stream its own usage is charged', async (name, last) => {
  const usageMetadata = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 }
  const content = { role: 'model', parts: [{ text: 'Hello' }] }
  const events = [{ candidates: [{ index: 0, content }], usageMetadata }, last]
  const text = events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('')
  const headers = { 'content-type': 'text/event-stream' }
  const gemini = Bun.serve({ port: 0, fetch: () => new Response(text, { headers }) })
  const id = `gemini/${name}`
  const baseUrl = `http://127.0.0.1:${gemini.port}`
  const its = await startWithProviders([{ id, kind: 'google', baseUrl, model: 'gemini-2.5-flash' }])
  const one = await its.gus()
  const messages = [{ role: 'user', content: 'Say hello.' }]
  const { body } = await one.call('POST', '/v1/chat/completions', {
    model: id,
    messages,
    stream: true,
  })
  expect(String(body)).toContain('"error"')
  expect(await its.lastUse(one)).toMatchObject({ input: 11, output: 7, estimated: false })
  await its.close()
  await gemini.stop(true)
})

const wrongKey = { reason: 'API_KEY_INVALID' }
const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }
const googleError = (message: string, more: object = {}) => ({ error: { message, ...more } })

/** Rejections: the kind of provider, what it sends, and the status and words of the client. */
const rejections: [kind: string, sent: [number, object], seen: [number, string]][] = [
  ['google', [400, googleError(`No key ${providerKey}.`, { details: [wrongKey] })], [503, '']],
  ['google', [429, googleError('Quota.', { details: [retry] })], [429, '']],
  ['google', [400, googleError('contents: wrong')], [400, 'contents: wrong']],
  ['google', [404, googleError(`No model of ${providerKey}`)], [400, '']],
  ['cohere', [401, { message: `invalid api token ${providerKey}` }], [503, '']],
  [
    'cohere',
    [422, { message: `messages: wrong, ${providerKey}` }],
    [400, 'messages: wrong, [key]'],
  ],
  ['bedrock', [403, { message: 'No access.' }], [503, '']],
  ['bedrock', [429, { message: 'Too many.' }], [429, '']],
  ['bedrock', [400, { message: 'messages: wrong' }], [400, 'messages: wrong']],
  ['anthropic', [400, {}], [400, '']],
]

test.each(rejections)('a rejection of %s: %j becomes %j', async (kind, sent, seen) => {
  const [status, body] = sent
  const fetch = () => Response.json(body, { status })
  const provider = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
  const baseUrl = `http://127.0.0.1:${provider.port}`
  const its = await startWithProviders([{ id: 'its/model', kind, baseUrl }])
  const one = await its.gus()
  const messages = [{ role: 'user', content: 'Say hello.' }]
  for (const stream of [false, true]) {
    const request = { model: 'its/model', messages, stream }
    const response = await one.call('POST', '/v1/chat/completions', request)
    expect([response.status, response.text('error.message')]).toEqual([
      seen[0],
      expect.stringContaining(seen[1]),
    ])
    expect(JSON.stringify([response.body, its.warnings])).not.toContain(providerKey)
    if (JSON.stringify(body).includes('retryDelay')) {
      expect(response.headers.get('retry-after')).toBe('7')
    }
    expect(await its.lastUse(one)).toMatchObject({ charged: 0n, status: 'failed' })
    expect(await its.findProblems()).toEqual([])
  }
  await its.close()
  await provider.stop(true)
})
