import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import {
  createPlayers,
  idOf,
  type PlayerCalls,
  startWithApp,
} from '../../testing/fixtures/players.ts'
import type { TestAgent, TestServer } from '../../testing/fixtures/test-server.ts'
import { challengesPerAppMax, challengesPerPlayerMax } from './limits.ts'
import { deletePersonData, listPersonData } from './person-data.ts'
import { endChallenges } from './scores.ts'
import { challenges, players } from './tables.ts'

let t: TestServer
let ann: TestAgent
let app: string
beforeEach(async () => void ({ t, ann, app } = await startWithApp({ uses: ['scores'] })))
afterEach(() => t.close())

const { callWith, guest, person } = createPlayers(() => ({ t, app }))
const challenge = (call: PlayerCalls, score: unknown, more: object = {}) =>
  call('POST', '/challenges', { score, seed: 7, ...more })
const meet = async (call: PlayerCalls, id: string, score: number, more: object = {}) =>
  Object((await call('POST', '/scores', { score, challenge: id, ...more })).body).challenge
const ownOf = async (call: PlayerCalls) =>
  Object((await call('GET', '/challenges')).body).challenges

test('a friend plays the seed of a challenge, and both see who won', async () => {
  const [olga, gus] = [await person('olga'), await guest('Gus')]
  const sent = await challenge(olga, 95)
  const id = sent.text('challenge.id')
  expect(sent.status).toBe(201)
  expect(sent.body).toMatchObject({
    challenge: { seed: 7, score: 95, by: 'olga', board: 'main', order: 'highest', best: null },
    link: `${t.ctx.urls.app}/a/${app}?challenge=${id}`,
  })
  expect((await callWith()('GET', `/challenges/${id}`)).body).toMatchObject({
    challenge: { id, seed: 7, score: 95, by: 'olga' },
  })
  expect(await meet(gus, id, 90)).toEqual({ by: 'olga', score: 95, result: 'lost' })
  expect(await meet(gus, id, 120)).toEqual({ by: 'olga', score: 95, result: 'won' })
  expect(await meet(gus, id, 95)).toMatchObject({ result: 'tied' })
  expect(await ownOf(olga)).toMatchObject([{ id, best: { score: 120, by: 'Gus' } }])
  expect(await ownOf(gus)).toEqual([])
  expect(await ownOf(callWith())).toEqual([])
})

test('the lower score wins a race, and only a score of the same board answers', async () => {
  const [olga, gus] = [await person('olga'), await guest('Gus')]
  const race = { board: 'Lap 1', order: 'lowest' }
  const id = (await challenge(olga, 61.5, race)).text('challenge.id')
  expect(await meet(gus, id, 60, race)).toMatchObject({ result: 'won' })
  expect(await meet(gus, id, 60.5, race)).toMatchObject({ result: 'won' })
  expect(await ownOf(olga)).toMatchObject([{ best: { score: 60 } }])
  expect(await meet(gus, id, 70)).toBeNull()
  expect(await meet(olga, id, 10, race)).toBeNull()
  expect(await meet(gus, 'unknown', 70)).toBeNull()
})

test('a challenge is of a player who has joined, with a score and a seed', async () => {
  await expectError(t, 403, 'not_joined', () => challenge(callWith(), 1))
  const olga = await person('olga')
  for (const seed of [-1, 1.5, 2 ** 32, 'a']) {
    await expectError(t, 400, 'bad_request', () => challenge(olga, 1, { seed }))
  }
  await expectError(t, 400, 'bad_request', () => challenge(olga, 'ten'))
  await expectError(t, 404, 'not_found', () => olga('GET', '/challenges/unknown'))
  app = await (await t.agent('ben')).publish()
  const pat = await person('pat')
  await expectError(t, 403, 'not_declared', () => challenge(pat, 1))
  expect((await pat('GET', '/challenges')).body).toEqual({ challenges: [] })
})

test('of a player, and of an app, the newest challenges stay, and each ends', async () => {
  const [olga, gus] = [await person('olga'), await guest('Gus')]
  for (let score = 0; score <= challengesPerPlayerMax; score += 1) {
    t.clock.advance(60_000)
    await challenge(olga, score)
  }
  const own = await ownOf(olga)
  expect([own.length, own.at(0).score, own.at(-1).score]).toEqual([20, 20, 1])
  const row = { app, player: 'p', board: 'main', lowest: false, seed: 1, score: 1 }
  const none = { created: t.clock.now(), best: null, bestPlayer: null, bestAt: null }
  const rows = Array.from({ length: challengesPerAppMax - 20 }, (_, at) => ({
    ...row,
    ...none,
    id: `c${at}`,
  }))
  for (let at = 0; at < rows.length; at += 1_000) {
    await t.ctx.db.tx((db) => db.insert(challenges).values(rows.slice(at, at + 1_000)))
  }
  expect((await challenge(gus, 1)).status).toBe(201)
  expect((await olga('GET', `/challenges/${own.at(-1).id}`)).code).toBe('not_found')
  expect((await challenge(olga, 30)).status).toBe(201)
  expect((await ownOf(olga)).length).toBe(19)
  t.clock.advance(30 * 24 * 3_600_000 + 1)
  expect(await ownOf(olga)).toEqual([])
  expect((await olga('GET', `/challenges/${own[0].id}`)).code).toBe('not_found')
  expect(await endChallenges(t.ctx)).toBe(challengesPerAppMax)
})

test('the answers of a player to challenges go with the person, and with the author', async () => {
  const [olga, pat, gus] = [await person('olga'), await person('pat'), await guest('Gus')]
  const id = (await challenge(olga, 95)).text('challenge.id')
  const answers = () => t.ctx.db.read.select().from(challenges)
  await meet(pat, id, 100)
  expect(await answers()).toMatchObject([{ best: 100, bestPlayer: await idOf(pat) }])
  const [row] = (await t.ctx.db.read.select().from(players)).filter(({ name }) => name === 'pat')
  await deletePersonData(t.ctx, row?.person ?? '')
  const none = [{ id, score: 95, best: null, bestPlayer: null, bestAt: null }]
  expect(await answers()).toMatchObject(none)
  await meet(gus, id, 97)
  const name = await idOf(gus)
  await ann.call('POST', `/apps/${app}/records/delete`, { kind: 'author', name })
  expect(await answers()).toMatchObject(none)
})

test('the maker reads and deletes challenges, and a person takes them along', async () => {
  const [olga, pat] = [await person('olga'), await person('pat')]
  const id = (await challenge(olga, 95)).text('challenge.id')
  t.clock.advance(1_000)
  await challenge(pat, 10)
  const records = `/apps/${app}/records`
  const listed = Object((await ann.call('GET', `${records}?kind=challenge`)).body).records
  expect(listed).toMatchObject([
    { kind: 'challenge', name: id, authorName: 'olga', value: { score: 95, seed: 7 } },
    { authorName: 'pat' },
  ])
  const remove = async (kind: string, name: string) =>
    (await ann.call('POST', `${records}/delete`, { kind, name })).body
  expect(await remove('challenge', id)).toEqual({ deleted: 1 })
  expect(await remove('author', await idOf(pat))).toEqual({ deleted: 1 })
  await challenge(olga, 96)
  const [row] = (await t.ctx.db.read.select().from(players)).filter(({ name }) => name === 'olga')
  const exported = []
  for await (const page of listPersonData(t.ctx, row?.person ?? '')) exported.push(...page)
  expect(exported).toMatchObject([
    { kind: 'player', name: 'olga' },
    { kind: 'challenge', value: { score: 96, board: 'main' } },
  ])
  await deletePersonData(t.ctx, row?.person ?? '')
  expect(await t.ctx.db.read.select().from(challenges)).toEqual([])
})
