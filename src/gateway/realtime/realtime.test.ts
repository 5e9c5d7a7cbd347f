import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { openLog } from '../../core/log.ts'
import { systemClock } from '../../core/time.ts'
import { doctor } from '../../ledger/doctor.ts'
import { holds } from '../../ledger/tables.ts'
import { socketMessageBytesMax } from '../../limits.ts'
import { Catalog, type Model } from '../../models/catalog.ts'
import type { PriceTexts } from '../../models/price.ts'
import { createOpenAiAdapter } from '../../providers/openai-compatible.ts'
import { Registry } from '../../providers/registry.ts'
import {
  type FakeRealtime,
  type FakeSession,
  startFakeRealtime,
} from '../../testing/fakes/realtime-upstream.ts'
import { type GatewayUser, serveGateway } from '../../testing/fixtures/gateway.ts'
import { testModel } from '../../testing/fixtures/models.ts'
import { openSession, type RealtimeClient } from '../../testing/fixtures/realtime-client.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const upstream = 'voices'
/** Its hold is 1,000 x 0.000032 + 100 x 0.000064 = 0.0384 USD. */
const voice: Model = {
  ...testModel(undefined, { id: 'fake/voice', type: 'realtime', inputs: ['text', 'audio'] }),
  outputs: ['text', 'audio'],
  contextLength: 1_000,
  maxOutput: 100,
}
const input = { prompt: '0.000004', cache_read: '0.0000004', audio_cache_read: '0.000001' }
const output = { completion: '0.000016', audio_completion: '0.000064' }
const price = { ...input, ...output, audio: '0.000032' }
const at = (model: Model, name: string, parts: PriceTexts) => {
  const priced = testModel(parts).price
  return { ...model, price: priced, offers: [{ upstream, model: name, price: priced }] }
}
const scribe = at(
  { ...voice, id: 'fake/scribe', type: 'audio', outputs: ['text'], maxOutput: 50 },
  'their-scribe',
  { prompt: '0.000006', completion: '0.00001' },
)
const models = [at(voice, 'their-voice', price), scribe, { ...voice, id: 'fake/free', offers: [] }]
const hold = 0.0384

let fake: FakeRealtime
let t: TestServer
let served: ReturnType<typeof serveGateway>
beforeAll(async () => {
  fake = startFakeRealtime()
  const adapter = createOpenAiAdapter({ name: upstream, baseUrl: fake.baseUrl, apiKey: 'sk-op' })
  const parts = { clock: systemClock, log: openLog(systemClock, () => {}) }
  const upstreams = new Registry([adapter], parts)
  t = await startTestServer({}, { catalog: new Catalog(models), upstreams })
  served = serveGateway(t)
})
afterAll(async () => {
  await served.stop()
  fake.close()
  await t.close()
})
beforeEach(() => {
  fake.sessions.length = 0
  fake.script.answer = () => {}
})
afterEach(async () => {
  await until(() => t.ctx.state.sessions.size === 0)
  expect((await doctor(t.ctx)).problems).toEqual([])
})

const url = (model = 'fake/voice') => `${served.origin}/v1/realtime?model=${model}`
const bearer = ({ key }: { key: string }) => ({ headers: { authorization: `Bearer ${key}` } })
const open = (user: GatewayUser) => openSession(url(), bearer(user))
const balanceOf = async (user: GatewayUser) =>
  Object((await user.call('POST', '/credits/balance')).body)
const usesOf = async (user: GatewayUser) =>
  Object((await user.call('GET', '/queries/history')).body).data

/** Returns the usage that OpenAI reports for a response. */
const usageOf = (input: object, output: object) => {
  const sum = (parts: object) =>
    ['text_tokens', 'audio_tokens'].reduce((all, name) => all + Number(Object(parts)[name] ?? 0), 0)
  const [input_tokens, output_tokens] = [sum(input), sum(output)]
  const total_tokens = input_tokens + output_tokens
  const details = { input_token_details: input, output_token_details: output }
  return { total_tokens, input_tokens, output_tokens, ...details }
}
const plain = usageOf({ text_tokens: 100 }, { text_tokens: 20 })
/** Answers each response.create with these usages, in turn. */
const answerWith = (...usages: unknown[]) => {
  let count = 0
  fake.script.answer = ({ type }, session) => {
    if (type !== 'response.create') return
    const id = `resp_${(count += 1)}`
    session.emit('response.created', { response: { id, status: 'in_progress' } })
    session.emit('response.output_text.delta', { response_id: id, delta: 'Hello' })
    const usage = usages[count - 1]
    session.emit('response.done', { response: { id, status: 'completed', usage } })
  }
}
const lastSession = (): FakeSession => {
  const session = fake.sessions.at(-1)
  if (!session) throw new Error('no session')
  return session
}
const respond = async (client: RealtimeClient): Promise<number> => {
  client.send('response.create')
  return Object((await client.next('response.done')).response).usage.cost
}
const isSettled = (user: GatewayUser) => until(async () => (await balanceOf(user)).held === 0)

test('charges each response exactly: plain, cached and audio', async () => {
  const gus = await served.gus()
  answerWith(
    plain,
    usageOf(
      {
        text_tokens: 150,
        audio_tokens: 200,
        cached_tokens: 180,
        cached_tokens_details: { text_tokens: 100, audio_tokens: 80 },
      },
      { text_tokens: 10, audio_tokens: 40 },
    ),
  )
  const client = await open(gus)
  expect(Object((await client.next('session.created')).session).model).toBe('fake/voice')
  const { headers, url } = lastSession()
  expect(headers.get('authorization')).toBe('Bearer sk-op')
  expect(url.href).toBe(`${fake.baseUrl}/realtime?model=their-voice`)
  expect((await balanceOf(gus)).held).toBe(hold)
  expect(await respond(client)).toBe(0.000_72)
  // 50 x 4 + 120 x 32 + 100 x 0.4 + 80 x 1 in, 10 x 16 + 40 x 64 out, in millionths of a USD.
  expect(await respond(client)).toBe(0.006_88)
  client.close()
  await isSettled(gus)
  expect((await balanceOf(gus)).balance).toBe(0.9924)
  const rows = await usesOf(gus)
  expect(rows).toMatchObject([
    { type: 'realtime', input_count: 350, cached_count: 180, output_count: 50, estimated: false },
    { model: 'fake/voice', price_in_usd: 0.000_72, held_in_usd: hold, status: 'completed' },
  ])
  expect(rows).toHaveLength(2)
})

test('settles transcriptions of the input at the price of their model', async () => {
  const gus = await served.gus()
  fake.script.answer = ({ type, session }, to) => {
    if (type === 'session.update') to.emit('session.updated', { session })
    if (type !== 'input_audio_buffer.commit') return
    to.emit('input_audio_buffer.committed', { item_id: 'item_1' })
    const usage = usageOf({ audio_tokens: 30 }, { text_tokens: 5 })
    const fields = { item_id: 'item_1', content_index: 0, transcript: 'Ahoy', usage }
    to.emit('conversation.item.input_audio_transcription.completed', fields)
  }
  const client = await open(gus)
  const update = (model: string) =>
    client.send('session.update', {
      event_id: 'mine',
      session: { type: 'realtime', audio: { input: { transcription: { model } } } },
    })
  update('whisper-1')
  expect(Object((await client.next('error')).error)).toMatchObject({ event_id: 'mine' })
  update('fake/scribe')
  await client.next('session.updated')
  expect(lastSession().received.at(-1)).toMatchObject({
    session: { audio: { input: { transcription: { model: 'their-scribe' } } } },
  })
  client.send('input_audio_buffer.append', { audio: 'AAAA' })
  client.send('input_audio_buffer.commit')
  await client.next('conversation.item.input_audio_transcription.completed')
  client.close()
  await isSettled(gus)
  expect((await balanceOf(gus)).balance).toBe(0.999_77)
  const [use] = await usesOf(gus)
  expect(use).toMatchObject({ model: 'fake/scribe', type: 'audio', price_in_usd: 0.000_23 })
})

test('ends with an error event when the next hold does not fit', async () => {
  const gus = await served.gus('0.0388')
  answerWith(plain)
  const client = await open(gus)
  expect(await respond(client)).toBe(0.000_72)
  const { error } = await client.next('error')
  expect(error).toMatchObject({ type: 'insufficient_quota', code: 'insufficient_quota' })
  expect(await client.closed).toEqual({ code: 1_008, reason: 'not_enough_credits' })
  await until(() => !lastSession().isOpen)
  expect(await balanceOf(gus)).toMatchObject({ balance: 0.038_08, held: 0 })
})

test('of two sessions that race for the last credit, one opens', async () => {
  const gus = await served.gus('0.05')
  const opened = await Promise.allSettled([open(gus), open(gus)])
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await balanceOf(gus)).toMatchObject({ held: hold, available: 0.0116 })
  for (const one of opened) if (one.status === 'fulfilled') one.value.close()
  await isSettled(gus)
  expect((await balanceOf(gus)).balance).toBe(0.05)
})

test('a key never spends more than its daily cap', async () => {
  const gus = await served.gus()
  const made = await gus.call('POST', '/accounts/keys', { daily_cap: 38.6 })
  answerWith(plain)
  const client = await open({ ...gus, key: made.text('api_key') })
  await respond(client)
  expect(Object((await client.next('error')).error).code).toBe('daily_cap')
  expect((await client.closed).reason).toBe('daily_cap')
})

test('a client that leaves pays what the cancelled response reports', async () => {
  const gus = await served.gus()
  fake.script.answer = ({ type, response_id: id }, session) => {
    if (type === 'response.create') session.emit('response.created', { response: { id: 'resp_1' } })
    if (type !== 'response.cancel') return
    session.emit('response.done', { response: { id, status: 'cancelled', usage: plain } })
  }
  const client = await open(gus)
  client.send('response.create')
  await client.next('response.created')
  client.close()
  await isSettled(gus)
  expect((await balanceOf(gus)).balance).toBe(0.999_28)
  expect((await usesOf(gus))[0]).toMatchObject({ status: 'interrupted', estimated: false })
  expect(lastSession().received.at(-1)).toEqual({ type: 'response.cancel', response_id: 'resp_1' })
})

test('a hold is charged after a crash only when its response has begun', async () => {
  const gus = await served.gus()
  const client = await open(gus)
  const ends = async () => {
    const account = `gateway:${gus.creditId}` as const
    const all = await t.ctx.db.read.select().from(holds).where(eq(holds.account, account))
    return all.map(({ state, onExpiry }) => [state, onExpiry])
  }
  expect(await ends()).toEqual([['held', 'release']])
  const session = lastSession()
  session.emit('response.created', { response: { id: 'spoken' } })
  await client.next('response.created')
  expect(await ends()).toEqual([['held', 'settle']])
  for (let times = 0; times < 2; times += 1) {
    session.emit('response.done', { response: { id: 'spoken', usage: plain } })
    await client.next('response.done')
  }
  client.close()
  await isSettled(gus)
  expect((await ends()).toSorted()).toEqual([
    ['released', 'release'],
    ['settled', 'settle'],
  ])
})

test('a slow reader loses nothing', async () => {
  const client = await open(await served.gus())
  await client.next('session.created')
  const session = lastSession()
  client.pause()
  const delta = 'x'.repeat(262_144)
  for (let at = 0; at < 24; at += 1) session.emit('response.output_audio.delta', { at, delta })
  session.emit('last')
  client.resume()
  await client.next('last')
  const received = client.events.filter(({ type }) => type === 'response.output_audio.delta')
  expect(received.map(({ at }) => at)).toEqual(Array.from({ length: 24 }, (_, at) => at))
  client.close()
})

test('an upstream that breaks charges what the response carried, by the own count', async () => {
  const gus = await served.gus()
  fake.script.answer = ({ type }, session) => {
    if (type !== 'response.create') return
    session.emit('response.created', { response: { id: 'resp_1' } })
    session.emit('response.output_text.delta', { delta: 'four words of text' })
  }
  const client = await open(gus)
  client.send('response.create')
  await client.next('response.output_text.delta')
  lastSession().cut()
  expect(Object((await client.next('error')).error).code).toBe('session_broken')
  expect(await client.closed).toEqual({ code: 1_011, reason: 'session_broken' })
  await isSettled(gus)
  const [use] = await usesOf(gus)
  expect(use).toMatchObject({ status: 'interrupted', estimated: true, output_count: 5 })
  expect(use.price_in_usd).toBeGreaterThan(0)
  expect((await balanceOf(gus)).balance).toBe(1 - use.price_in_usd)
})

test('a response without usage is estimated, a failed one costs nothing', async () => {
  const gus = await served.gus()
  answerWith(undefined)
  const client = await open(gus)
  client.send('response.create')
  await client.next('response.done')
  const session = lastSession()
  session.emit('response.created', { response: { id: 'late' } })
  session.emit('response.done', { response: { id: 'late', status: 'failed', usage: null } })
  await client.next('response.done')
  client.close()
  await isSettled(gus)
  expect(await usesOf(gus)).toMatchObject([
    { status: 'failed', price_in_usd: 0 },
    { status: 'completed', estimated: true, output_count: 2 },
  ])
})

test('a usage above the limits of the model is charged within the hold', async () => {
  const gus = await served.gus()
  answerWith(usageOf({ audio_tokens: 9e9 }, { audio_tokens: 9e9 }))
  const client = await open(gus)
  expect(await respond(client)).toBe(hold)
  client.close()
  await isSettled(gus)
  expect((await usesOf(gus))[0]).toMatchObject({ estimated: true, price_in_usd: hold })
})

test('a revoked key ends its session at its next response', async () => {
  const gus = await served.gus()
  const made = await gus.call('POST', '/accounts/keys', { name: 'voice' })
  const client = await open({ ...gus, key: made.text('api_key') })
  await gus.call('DELETE', `/accounts/keys/${made.text('id')}`)
  client.send('response.create')
  expect(Object((await client.next('error')).error).code).toBe('invalid_api_key')
  expect((await client.closed).code).toBe(1_008)
  expect(lastSession().received).toEqual([])
  await isSettled(gus)
})

test('an idle session ends, and one that runs longer than the maximum', async () => {
  const gus = await served.gus()
  for (const [ms, reason] of [
    [301_000, 'session_idle'],
    [3_601_000, 'session_expired'],
  ] as const) {
    const client = await open(gus)
    t.clock.advance(ms)
    expect((await client.closed).reason).toBe(reason)
  }
  await isSettled(gus)
})

test('a huge frame, and events that are not covered, cost nothing', async () => {
  const gus = await served.gus()
  const client = await open(gus)
  for (const text of [
    'no JSON',
    '[]',
    '{"type":"transcription_session.update"}',
    '{"type":"session.update","session":{"prompt":{"id":"pmpt_1"}}}',
    '{"type":"session.update","session":{"model":"other"}}',
    '{"type":"session.update","session":{"tools":[{"type":"mcp"}]}}',
    '{"type":"conversation.item.create","item":{"content":[{"type":"input_image"}]}}',
  ]) {
    client.write(text)
    expect(Object((await client.next('error')).error).type).toBe('invalid_request_error')
  }
  expect(lastSession().received).toEqual([])
  client.write('x'.repeat(socketMessageBytesMax + 1))
  expect((await client.closed).code).toBe(1_009)
  await isSettled(gus)
  expect(await usesOf(gus)).toEqual([])
})

test('a browser sends its key as a protocol, and a server that stops ends its sessions', async () => {
  const gus = await served.gus()
  const key = `openai-insecure-api-key.${gus.key}`
  const protocols = ['realtime', key, 'openai-beta.realtime-v1']
  const client = await openSession(url(), { protocols })
  expect(client.protocol).toBe('realtime')
  expect(lastSession().headers.get('openai-beta')).toBe('realtime=v1')
  for (const session of t.ctx.state.sessions) session.stop()
  expect(await client.closed).toEqual({ code: 1_001, reason: 'server_stops' })
  await isSettled(gus)
})

test('a handshake that cannot succeed is an error before it: needs_websocket and others', async () => {
  const gus = await served.gus()
  const poor = await served.gus('0.01')
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const handshake = async (model: string, key: string, headers = upgrade) => {
    const more = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', authorization: `Bearer ${key}` }
    const response = await fetch(url(model), { headers: { ...headers, ...more } })
    return [response.status, Object(await response.json()).error.code]
  }
  expect(await handshake('fake/voice', 'wrong')).toEqual([401, 'invalid_api_key'])
  expect(await handshake('fake/none', gus.key)).toEqual([404, 'model_not_found'])
  expect(await handshake('fake/scribe', gus.key)).toEqual([400, null])
  expect(await handshake('', gus.key)).toEqual([400, null])
  expect(await handshake('fake/free', gus.key)).toEqual([400, null])
  expect(await handshake('fake/voice&intent=transcription', gus.key)).toEqual([400, null])
  expect(await handshake('fake/voice', poor.key)).toEqual([402, 'insufficient_quota'])
  const response = await fetch(url(), bearer(gus))
  expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket'])
  fake.script.status = 503
  expect(await handshake('fake/voice', gus.key)).toEqual([502, null])
  expect(fake.sessions).toEqual([])
  expect(await balanceOf(gus)).toMatchObject({ balance: 1, held: 0 })
})
