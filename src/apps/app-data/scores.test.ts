import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import {
  createPlayers,
  idOf,
  type PlayerCalls,
  startWithApp,
} from '../../testing/fixtures/players.ts'
import type { TestAgent, TestServer } from '../../testing/fixtures/test-server.ts'
import { takeDown } from '../moderation/moderation.ts'
import { boardsPerAppMax, scoresPerAppMax } from './limits.ts'
import { forgetGuests } from './players.ts'
import { scores } from './tables.ts'

let t: TestServer
let ann: TestAgent
let app: string
beforeEach(async () => void ({ t, ann, app } = await startWithApp({ uses: ['scores'] })))
afterEach(() => t.close())

const { callWith, guest, person } = createPlayers(() => ({ t, app }))
const submit = (call: PlayerCalls, score: unknown, more: object = {}) =>
  call('POST', '/scores', { score, ...more })
const read = async (call: PlayerCalls, query = '') =>
  Object((await call('GET', `/scores${query}`)).body)
const placesOf = ({ scores: rows }: { scores: { name: string; score: number }[] }) =>
  rows.map(({ name, score }) => `${name} ${score}`)

test('a board has the best score of each player, the first one on top', async () => {
  const [olga, gus, pat] = [await person('olga'), await guest('Gus'), await person('pat')]
  expect((await submit(olga, 40)).body).toMatchObject({ rank: 1, score: 40, isBest: true })
  t.clock.advance(1_000)
  expect((await submit(gus, 90.5)).body).toMatchObject({ rank: 1, name: 'Gus', isBest: true })
  expect((await submit(olga, 30)).body).toMatchObject({ rank: 2, score: 40, isBest: false })
  // Of equal scores, the earlier one is before.
  t.clock.advance(1_000)
  expect((await submit(pat, 90.5)).body).toMatchObject({ rank: 2, isBest: true })
  const board = await read(olga)
  expect(placesOf(board)).toEqual(['Gus 90.5', 'pat 90.5', 'olga 40'])
  expect(board).toMatchObject({ count: 3, mine: { rank: 3, score: 40 } })
  expect(await read(callWith(), '?limit=1')).toMatchObject({
    scores: [{ rank: 1, player: await idOf(gus) }],
    mine: null,
    count: 3,
  })
})

test('boards have names, and one where the lowest score is the first', async () => {
  const [olga, gus] = [await person('olga'), await guest('Gus')]
  const race = { board: 'Lap 1', order: 'lowest' }
  await submit(olga, 61.25, race)
  await submit(gus, 59.5, race)
  expect((await submit(olga, 70, race)).body).toMatchObject({ score: 61.25, isBest: false })
  expect((await submit(olga, 58, race)).body).toMatchObject({ rank: 1, isBest: true })
  expect(placesOf(await read(gus, '?board=Lap%201&order=lowest'))).toEqual(['olga 58', 'Gus 59.5'])
  expect(await read(gus, '?board=Lap%201')).toEqual({ scores: [], mine: null, count: 0 })
})

test('a score needs the agreement of the player, a number and a page of this site', async () => {
  const gus = await guest('Gus')
  await expectError(t, 403, 'not_joined', () => submit(callWith(), 1))
  for (const score of ['9', null, 2 ** 60]) {
    await expectError(t, 400, 'bad_request', () => submit(gus, score))
  }
  for (const board of ['', 'a/b', 'a'.repeat(41), '<b>']) {
    await expectError(t, 400, 'bad_request', () => submit(gus, 1, { board }))
  }
  await expectError(t, 400, 'bad_request', () => submit(gus, 1, { order: 'best' }))
  await expectError(t, 403, 'cross_site', () =>
    t.call('POST', `/apps/${app}/scores`, {
      body: { score: 1 },
      headers: { origin: 'https://evil.example' },
    }),
  )
  expect((await read(gus)).count).toBe(0)
})

test('forged scores are slow, and the maker removes them', async () => {
  const [eve, olga] = [await guest('Eve'), await person('olga')]
  t.ctx.state.limits.scores.max = 3
  for (const score of [1, 2, 999]) expect((await submit(eve, score)).status).toBe(200)
  await expectError(t, 429, 'data_limit', () => submit(eve, 1_000))
  await submit(olga, 7)
  await submit(olga, 7, { board: 'old' })
  const records = `/apps/${app}/records`
  const listed = await ann.call('GET', `${records}?kind=score`)
  expect(listed.body).toMatchObject({
    records: [
      { kind: 'score', name: 'main', value: { score: expect.any(Number) } },
      { kind: 'score', name: 'main' },
      { kind: 'score', name: 'old', authorName: 'olga' },
    ],
  })
  const remove = (kind: string, name: string) =>
    ann.call('POST', `${records}/delete`, { kind, name })
  const ben = await t.agent('ben')
  await expectError(t, 404, 'not_found', () =>
    ben.call('POST', `${records}/delete`, { kind: 'board', name: 'main' }),
  )
  expect((await remove('score', `main/${await idOf(eve)}`)).body).toEqual({ deleted: 1 })
  expect(placesOf(await read(olga))).toEqual(['olga 7'])
  expect((await remove('board', 'old')).body).toEqual({ deleted: 1 })
  expect((await remove('author', await idOf(olga))).body).toEqual({ deleted: 1 })
  expect((await read(olga)).count).toBe(0)
})

test('an app has so many boards and scores; a better one takes the place of the last', async () => {
  const [eve, olga] = [await guest('Eve'), await person('olga')]
  const rows = Array.from({ length: scoresPerAppMax }, (_, at) => ({
    app,
    board: at < boardsPerAppMax - 1 ? `b${at}` : 'main',
    lowest: false,
    player: `p${at}`,
    score: at,
    at,
  }))
  for (let at = 0; at < rows.length; at += 2_000) {
    await t.ctx.db.tx((db) => db.insert(scores).values(rows.slice(at, at + 2_000)))
  }
  await expectError(t, 409, 'data_full', () => submit(eve, 1))
  expect((await submit(olga, 5_000.5)).body).toMatchObject({ isBest: true })
  expect((await read(olga)).count).toBe(scoresPerAppMax - boardsPerAppMax + 1)
  await expectError(t, 409, 'data_full', () => submit(eve, 9, { board: 'another' }))
})

test('many scores of a player at once keep the best one', async () => {
  const olga = await person('olga')
  const all = Array.from({ length: 20 }, (_, at) => submit(olga, (at * 7) % 20))
  for (const { status } of await Promise.all(all)) expect(status).toBe(200)
  expect(await read(olga)).toMatchObject({ mine: { score: 19 }, count: 1 })
})

test('scores end with the app, are exported, and keep their guest', async () => {
  const gus = await guest('Gus')
  await submit(gus, 3)
  t.clock.advance(40 * 24 * 3_600_000)
  expect(await forgetGuests(t.ctx)).toBe(0)
  await takeDown(t.ctx, app, 'spam', 'operator')
  await expectError(t, 410, 'taken_down', () => submit(gus, 4))
  await expectError(t, 410, 'taken_down', () => gus('GET', '/scores'))
})

test('visitors who have not joined share the limit of their network, not that of all', async () => {
  t.ctx.state.limits.dataCalls.max = 1
  const readFrom = (from: string) => t.call('GET', `/apps/${app}/scores`, { from })
  expect((await readFrom('192.0.2.1')).status).toBe(200)
  expect((await readFrom('192.0.2.1')).code).toBe('data_limit')
  expect((await readFrom('198.51.100.1')).status).toBe(200)
})
