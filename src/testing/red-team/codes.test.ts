import { afterEach, beforeEach, expect, test } from 'bun:test'

import { liveMessagesPerSecond } from '../../apps/app-data/limits.ts'
import { controllerCodesPerMinute } from '../../kernel/limits.ts'
import { expectError } from '../expect-error.ts'
import { createPlayers, type PlayerCalls } from '../fixtures/players.ts'
import { openSession, type RealtimeClient } from '../fixtures/realtime-client.ts'
import { serve } from '../fixtures/serve.ts'
import { takeSnapshot } from '../fixtures/snapshot.ts'
import { startTestServer, type TestAgent, type TestServer } from '../fixtures/test-server.ts'
import { until } from '../until.ts'

/** Attempts to use codes of controllers and of challenges that somebody else has. */
let t: TestServer
let ann: TestAgent
let app: string
let server: ReturnType<typeof serve>
beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  app = await ann.publish({ uses: ['room', 'scores'] })
  server = serve(() => t)
})
afterEach(async () => {
  await server.stop(true)
  await t.close()
})

const { person } = createPlayers(() => ({ t, app }))

/** Opens the live connection of a new guest. */
async function connect(): Promise<RealtimeClient> {
  const joined = await t.call('POST', `/apps/${app}/player`, { body: {} })
  const cookie = /^[^;]+/.exec(joined.headers.get('set-cookie') ?? '')?.[0] ?? ''
  const url = `http://localhost:${server.port}/api/apps/${app}/live`
  return openSession(url, { headers: { cookie } })
}

const code = 'controller/KM3X7'
const screen = { screen: { buttons: ['Jump'] }, players: {} }

/** Enters a room. Returns what its pages show, or the code of an error. */
async function enter(page: RealtimeClient, room: string): Promise<unknown> {
  const before = page.events.length
  page.send('join', { room })
  const event = await until(() =>
    page.events
      .slice(before)
      .find((one) => one['room'] === room && ('you' in one || 'error' in one)),
  )
  if ('error' in event) return Object(event['error']).code
  return Object(event).peers.map(({ presence }: { presence: unknown }) => presence)
}

test('a code of controllers leads nowhere in another app', async () => {
  const tv = await connect()
  tv.send('join', { room: code, presence: screen })
  await tv.next('room')
  expect(await enter(await connect(), code)).toEqual([screen, null])
  app = await ann.publish({ title: 'Other', uses: ['room'] })
  expect(await enter(await connect(), code)).toEqual([null])
})

test('a network that guesses codes is stopped, and rooms of other names go on', async () => {
  const eve = await connect()
  for (let at = 0; at < controllerCodesPerMinute; at += 1) {
    expect(await enter(eve, `controller/${at}`)).toEqual([null])
    eve.send('leave', { room: `controller/${at}` })
  }
  expect(await enter(eve, code)).toBe('data_limit')
  // Another connection and another guest of the network are no way around it.
  expect(await enter(await connect(), code)).toBe('data_limit')
  expect(await enter(eve, 'lobby')).toEqual([null])
  t.clock.advance(120_000)
  expect(await enter(eve, code)).toEqual([null])
})

test('a code whose screen has left leads to nobody', async () => {
  const tv = await connect()
  tv.send('join', { room: code, presence: screen })
  await tv.next('room')
  const phone = await connect()
  expect(await enter(phone, code)).toEqual([screen, null])
  tv.close()
  await until(() => phone.events.some((event) => 'left' in event))
  expect(await enter(await connect(), code)).toEqual([null, null])
})

test('a phone that floods is disconnected, and the screen learns that it left', async () => {
  const tv = await connect()
  tv.send('join', { room: code, presence: screen })
  await tv.next('room')
  const eve = await connect()
  expect(await enter(eve, code)).toEqual([screen, null])
  expect(await tv.next('room')).toMatchObject({ joined: [{ presence: null }] })
  for (let at = 0; at <= liveMessagesPerSecond; at += 1) {
    eve.send('presence', { room: code, data: { pad: 'eve', keys: [at] } })
  }
  expect((await eve.closed).code).toBe(1_008)
  await until(() => tv.events.some((event) => 'left' in event))
})

const challenge = (call: PlayerCalls) => call('POST', '/challenges', { score: 10, seed: 7 })

test('a challenge is unknown in another app, and a score for it changes nothing', async () => {
  const olga = await person('olga')
  const id = (await challenge(olga)).text('challenge.id')
  expect(id).toMatch(/^[A-Za-z0-9]{12}$/)
  const first = app
  app = await ann.publish({ title: 'Other', uses: ['scores'] })
  const pat = await person('pat')
  await expectError(t, 404, 'not_found', () => pat('GET', `/challenges/${id}`))
  const submitted = await pat('POST', '/scores', { score: 99, challenge: id })
  expect(submitted.body).toMatchObject({ challenge: null })
  app = first
  expect((await olga('GET', `/challenges/${id}`)).body).toMatchObject({ challenge: { best: null } })
})

test('guesses of challenges end at the limit of calls, also for a browser without a cookie', async () => {
  t.ctx.state.limits.dataCalls.max = 3
  const guess = (at: number) => t.call('GET', `/apps/${app}/challenges/guess${at}AAAAAA`)
  for (let at = 0; at < 3; at += 1) await expectError(t, 404, 'not_found', () => guess(at))
  await expectError(t, 429, 'data_limit', () => guess(3))
})

test('a challenge that has ended is not met, and a flood of new ones stops', async () => {
  const id = (await challenge(await person('olga'))).text('challenge.id')
  t.clock.advance(31 * 24 * 3_600_000)
  const pat = await person('pat')
  await expectError(t, 404, 'not_found', () => pat('GET', `/challenges/${id}`))
  const late = await pat('POST', '/scores', { score: 99, challenge: id })
  expect(late.body).toMatchObject({ challenge: null })
  t.clock.advance(120_000)
  t.ctx.state.limits.scores.max = 2
  for (let at = 0; at < 2; at += 1) expect((await challenge(pat)).status).toBe(201)
  const before = await takeSnapshot(t.ctx)
  await expectError(t, 429, 'data_limit', () => challenge(pat))
  expect(await takeSnapshot(t.ctx)).toEqual(before)
})
