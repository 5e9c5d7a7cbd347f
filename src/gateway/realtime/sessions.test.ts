import { expect, test } from 'bun:test'

import { socketMessageBytesMax } from '../../kernel/limits.ts'
import { openSession } from '../../testing/fixtures/realtime-client.ts'
import {
  balanceOf,
  bearer,
  openRealtimeTests,
  usesOf,
  voiceHold,
} from '../../testing/fixtures/realtime-server.ts'

const t = await openRealtimeTests()

test('two sessions that race for the last credit open only one', async () => {
  const gus = await t.gus('0.05')
  const opened = await Promise.allSettled([t.open(gus), t.open(gus)])
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await balanceOf(gus)).toMatchObject({ held: voiceHold, available: 0.0116 })
  for (const one of opened) if (one.status === 'fulfilled') one.value.close()
  await t.isSettled(gus)
  expect((await balanceOf(gus)).balance).toBe(0.05)
})

test('a slow reader loses nothing', async () => {
  const client = await t.open(await t.gus())
  await client.next('session.created')
  const session = t.lastSession()
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

test('a revoked key ends its session at its next response', async () => {
  const gus = await t.gus()
  const made = await gus.call('POST', '/accounts/keys', { name: 'voice' })
  const client = await t.open({ ...gus, key: made.text('api_key') })
  await gus.call('DELETE', `/accounts/keys/${made.text('id')}`)
  client.send('response.create')
  expect(Object((await client.next('error')).error).code).toBe('invalid_api_key')
  expect((await client.closed).code).toBe(1_008)
  expect(t.lastSession().received).toEqual([])
  await t.isSettled(gus)
})

test('an idle session ends, and one that runs longer than the maximum', async () => {
  const gus = await t.gus()
  for (const [ms, reason] of [
    [301_000, 'session_idle'],
    [3_601_000, 'session_expired'],
  ] as const) {
    const client = await t.open(gus)
    t.clock.advance(ms)
    expect((await client.closed).reason).toBe(reason)
  }
  await t.isSettled(gus)
})

test('a huge frame and unsupported events cost nothing', async () => {
  const gus = await t.gus()
  const client = await t.open(gus)
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
  expect(t.lastSession().received).toEqual([])
  client.write('x'.repeat(socketMessageBytesMax + 1))
  expect((await client.closed).code).toBe(1_009)
  await t.isSettled(gus)
  expect(await usesOf(gus)).toEqual([])
})

test('a browser sends its key as a protocol, and a server that stops ends its sessions', async () => {
  const gus = await t.gus()
  const key = `openai-insecure-api-key.${gus.key}`
  const protocols = ['realtime', key, 'openai-beta.realtime-v1']
  const client = await openSession(t.url(), { protocols })
  expect(client.protocol).toBe('realtime')
  expect(t.lastSession().headers.get('openai-beta')).toBe('realtime=v1')
  for (const session of t.ctx.state.sessions) session.stop()
  expect(await client.closed).toEqual({ code: 1_001, reason: 'server_stops' })
  await t.isSettled(gus)
})

test('a session that cannot open gets an error before the handshake, such as needs_websocket', async () => {
  const gus = await t.gus()
  const poor = await t.gus('0.01')
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const handshake = async (model: string, key: string, headers = upgrade) => {
    const more = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', authorization: `Bearer ${key}` }
    const response = await fetch(t.url(model), { headers: { ...headers, ...more } })
    return [response.status, Object(await response.json()).error.code]
  }
  expect(await handshake('fake/voice', 'wrong')).toEqual([401, 'invalid_api_key'])
  expect(await handshake('fake/none', gus.key)).toEqual([404, 'model_not_found'])
  expect(await handshake('fake/scribe', gus.key)).toEqual([400, null])
  expect(await handshake('', gus.key)).toEqual([400, null])
  expect(await handshake('fake/free', gus.key)).toEqual([400, null])
  expect(await handshake('fake/voice&intent=transcription', gus.key)).toEqual([400, null])
  expect(await handshake('fake/voice', poor.key)).toEqual([402, 'insufficient_quota'])
  const response = await fetch(t.url(), bearer(gus))
  expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket'])
  t.fake.script.status = 503
  expect(await handshake('fake/voice', gus.key)).toEqual([502, null])
  expect(t.fake.sessions).toEqual([])
  expect(await balanceOf(gus)).toMatchObject({ balance: 1, held: 0 })
})
