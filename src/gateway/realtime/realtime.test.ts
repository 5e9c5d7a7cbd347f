import { expect, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { holds } from '../../money/ledger/tables.ts'
import {
  balanceOf,
  openRealtimeTests,
  plainUsage,
  respond,
  respondWith,
  usageOf,
  usesOf,
  voiceHold,
} from '../../testing/fixtures/realtime-server.ts'
import { until } from '../../testing/until.ts'

const t = await openRealtimeTests()

test('charges each response exactly: plain, cached and audio', async () => {
  const gus = await t.gus()
  respondWith(
    t.fake,
    plainUsage,
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
  const client = await t.open(gus)
  expect(Object((await client.next('session.created')).session).model).toBe('fake/voice')
  const { headers, url } = t.lastSession()
  expect(headers.get('authorization')).toBe('Bearer sk-op')
  expect(url.href).toBe(`${t.fake.baseUrl}/realtime?model=their-voice`)
  expect((await balanceOf(gus)).held).toBe(voiceHold)
  expect(await respond(client)).toBe(0.000_72)
  // 50 x 4 + 120 x 32 + 100 x 0.4 + 80 x 1 in, 10 x 16 + 40 x 64 out, in millionths of a USD.
  expect(await respond(client)).toBe(0.006_88)
  client.close()
  await t.isSettled(gus)
  expect((await balanceOf(gus)).balance).toBe(0.9924)
  const rows = await usesOf(gus)
  expect(rows).toMatchObject([
    { type: 'realtime', input_count: 350, cached_count: 180, output_count: 50, estimated: false },
    { model: 'fake/voice', price_in_usd: 0.000_72, held_in_usd: voiceHold, status: 'completed' },
  ])
  expect(rows).toHaveLength(2)
})

test('settles transcriptions of the input at the price of their model', async () => {
  const gus = await t.gus()
  t.fake.script.respond = ({ type, session }, to) => {
    if (type === 'session.update') to.emit('session.updated', { session })
    if (type !== 'input_audio_buffer.commit') return
    to.emit('input_audio_buffer.committed', { item_id: 'item_1' })
    const usage = usageOf({ audio_tokens: 30 }, { text_tokens: 5 })
    const fields = { item_id: 'item_1', content_index: 0, transcript: 'Ahoy', usage }
    to.emit('conversation.item.input_audio_transcription.completed', fields)
  }
  const client = await t.open(gus)
  const update = (model: string) =>
    client.send('session.update', {
      event_id: 'mine',
      session: { type: 'realtime', audio: { input: { transcription: { model } } } },
    })
  update('whisper-1')
  expect(Object((await client.next('error')).error)).toMatchObject({ event_id: 'mine' })
  update('fake/scribe')
  await client.next('session.updated')
  expect(t.lastSession().received.at(-1)).toMatchObject({
    session: { audio: { input: { transcription: { model: 'their-scribe' } } } },
  })
  client.send('input_audio_buffer.append', { audio: 'AAAA' })
  client.send('input_audio_buffer.commit')
  await client.next('conversation.item.input_audio_transcription.completed')
  client.close()
  await t.isSettled(gus)
  expect((await balanceOf(gus)).balance).toBe(0.999_77)
  const [use] = await usesOf(gus)
  expect(use).toMatchObject({ model: 'fake/scribe', type: 'audio', price_in_usd: 0.000_23 })
})

test('ends with an error event when the next hold does not fit', async () => {
  const gus = await t.gus('0.0388')
  respondWith(t.fake, plainUsage)
  const client = await t.open(gus)
  expect(await respond(client)).toBe(0.000_72)
  const { error } = await client.next('error')
  expect(error).toMatchObject({ type: 'insufficient_quota', code: 'insufficient_quota' })
  expect(await client.closed).toEqual({ code: 1_008, reason: 'not_enough_credits' })
  await until(() => !t.lastSession().isOpen)
  expect(await balanceOf(gus)).toMatchObject({ balance: 0.038_08, held: 0 })
})

test('a key never spends more than its daily cap', async () => {
  const gus = await t.gus()
  const made = await gus.call('POST', '/accounts/keys', { daily_cap: 38.6 })
  respondWith(t.fake, plainUsage)
  const client = await t.open({ ...gus, key: made.text('api_key') })
  await respond(client)
  expect(Object((await client.next('error')).error).code).toBe('daily_cap')
  expect((await client.closed).reason).toBe('daily_cap')
})

test('a client that leaves pays what the cancelled response reports', async () => {
  const gus = await t.gus()
  t.fake.script.respond = ({ type, response_id: id }, session) => {
    if (type === 'response.create') session.emit('response.created', { response: { id: 'resp_1' } })
    if (type !== 'response.cancel') return
    session.emit('response.done', { response: { id, status: 'cancelled', usage: plainUsage } })
  }
  const client = await t.open(gus)
  client.send('response.create')
  await client.next('response.created')
  client.close()
  await t.isSettled(gus)
  expect((await balanceOf(gus)).balance).toBe(0.999_28)
  expect((await usesOf(gus))[0]).toMatchObject({ status: 'interrupted', estimated: false })
  expect(t.lastSession().received.at(-1)).toEqual({
    type: 'response.cancel',
    response_id: 'resp_1',
  })
})

test('a hold is charged after a crash only when its response has begun', async () => {
  const gus = await t.gus()
  const client = await t.open(gus)
  const ends = async () => {
    const account = `gateway:${gus.creditId}` as const
    const all = await t.ctx.db.read.select().from(holds).where(eq(holds.account, account))
    return all.map(({ state, onExpiry }) => [state, onExpiry])
  }
  expect(await ends()).toEqual([['held', 'release']])
  const session = t.lastSession()
  session.emit('response.created', { response: { id: 'spoken' } })
  await client.next('response.created')
  expect(await ends()).toEqual([['held', 'settle']])
  for (let times = 0; times < 2; times += 1) {
    session.emit('response.done', { response: { id: 'spoken', usage: plainUsage } })
    await client.next('response.done')
  }
  client.close()
  await t.isSettled(gus)
  expect((await ends()).toSorted()).toEqual([
    ['released', 'release'],
    ['settled', 'settle'],
  ])
})

test('a response that breaks off is charged by the count of the gateway', async () => {
  const gus = await t.gus()
  t.fake.script.respond = ({ type }, session) => {
    if (type !== 'response.create') return
    session.emit('response.created', { response: { id: 'resp_1' } })
    session.emit('response.output_text.delta', { delta: 'four words of text' })
  }
  const client = await t.open(gus)
  client.send('response.create')
  await client.next('response.output_text.delta')
  t.lastSession().cut()
  expect(Object((await client.next('error')).error).code).toBe('session_broken')
  expect(await client.closed).toEqual({ code: 1_011, reason: 'session_broken' })
  await t.isSettled(gus)
  const [use] = await usesOf(gus)
  expect(use).toMatchObject({ status: 'interrupted', estimated: true, output_count: 5 })
  expect(use.price_in_usd).toBeGreaterThan(0)
  expect((await balanceOf(gus)).balance).toBe(1 - use.price_in_usd)
})

test('a response without usage is estimated, a failed one costs nothing', async () => {
  const gus = await t.gus()
  respondWith(t.fake, undefined)
  const client = await t.open(gus)
  client.send('response.create')
  await client.next('response.done')
  const session = t.lastSession()
  session.emit('response.created', { response: { id: 'late' } })
  session.emit('response.done', { response: { id: 'late', status: 'failed', usage: null } })
  await client.next('response.done')
  client.close()
  await t.isSettled(gus)
  expect(await usesOf(gus)).toMatchObject([
    { status: 'failed', price_in_usd: 0 },
    { status: 'completed', estimated: true, output_count: 2 },
  ])
})

test('a usage above the limits of the model is charged within the hold', async () => {
  const gus = await t.gus()
  respondWith(t.fake, usageOf({ audio_tokens: 9e9 }, { audio_tokens: 9e9 }))
  const client = await t.open(gus)
  expect(await respond(client)).toBe(voiceHold)
  client.close()
  await t.isSettled(gus)
  expect((await usesOf(gus))[0]).toMatchObject({ estimated: true, price_in_usd: voiceHold })
})
