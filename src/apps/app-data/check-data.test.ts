import { afterEach, beforeEach, expect, test } from 'bun:test'

import { eq, ne } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { deletedAppKeptMs } from '../../kernel/limits.ts'
import { runCommand } from '../../server/operator/control.ts'
import { purgeApps } from '../../server/operator/maintenance-tasks.ts'
import {
  createPlayers,
  idOf,
  type PlayerCalls,
  startWithApp,
} from '../../testing/fixtures/players.ts'
import type { TestAgent, TestServer } from '../../testing/fixtures/test-server.ts'
import { apps } from '../tables.ts'
import { checkData } from './check-data.ts'
import { players, spaces, values } from './tables.ts'

let t: TestServer
let ann: TestAgent
let app: string
let olga: PlayerCalls
const { guest, person } = createPlayers(() => ({ t, app }))

/** Data of every kind, of which some is removed again. */
beforeEach(async () => {
  ;({ t, ann, app } = await startWithApp({ uses: ['shared', 'db', 'scores', 'files'] }))
  olga = await person('olga')
  const gus = await guest('Gus')
  for (const path of ['a/1', 'a/2', `data/users/${await idOf(olga)}/1`]) {
    await olga('PUT', '/documents', { path, data: { text: 'ship' } })
  }
  await gus('PATCH', '/documents', { path: 'a/2', data: { more: true } })
  await gus('DELETE', '/documents?path=a/1')
  for (const key of ['one', 'two']) {
    await gus('PUT', '/value/shared', { key, value: 'wave' })
    await olga('PUT', '/value/own', { key, value: 'wave' })
  }
  await olga('DELETE', '/value/own?key=two')
  await gus('POST', '/scores', { score: 7 })
  await gus('POST', '/uploads', { data: 'data:application/json,{}' })
})
afterEach(() => t.close())

const runDoctor = () => runCommand(t.ctx, { command: 'doctor', words: [] })

test('doctor finds that counters are those of the rows, whatever was written and removed', async () => {
  expect(await checkData(t.ctx)).toEqual([])
  await ann.call('POST', `/apps/${app}/records/delete`, { kind: 'author', name: await idOf(olga) })
  await ann.call('POST', `/apps/${app}/records/delete`, {
    kind: 'personal',
    name: await idOf(olga),
  })
  expect(await checkData(t.ctx)).toEqual([])
  expect((await runDoctor()).text).toContain('The data of apps is as large as it is counted.')
})

test('nothing of an app is left when it is removed', async () => {
  await ann.call('PUT', `/apps/${app}/sponsor`, { dailyCap: 5, playerDailyCap: 5 })
  await ann.call('DELETE', `/apps/${app}`)
  t.clock.advance(deletedAppKeptMs + 1)
  expect(await purgeApps(t.ctx)).toBe(1)
  expect(await checkData(t.ctx)).toEqual([])
})

/** Manipulations of the tables, each with the line of the doctor. */
const harms: [what: string, line: () => string, harm: (db: Db) => PromiseLike<unknown>][] = [
  [
    'a number of documents',
    () => `app ${app} counts documents: 3 of 78 bytes, but has 2 of 78 bytes`,
    (db) => db.update(spaces).set({ documents: 3 }),
  ],
  [
    'the bytes of documents',
    () => `app ${app} counts documents: 2 of 1 bytes, but has 2 of 78 bytes`,
    (db) => db.update(spaces).set({ documentBytes: 1 }),
  ],
  [
    'a shared value',
    () => `app ${app} counts shared values: 2 of 18 bytes, but has 1 of 9 bytes`,
    (db) => db.delete(values).where(eq(values.key, 'two')),
  ],
  [
    'the row with the counters',
    () => `app ${app} counts shared values: 0 of 0 bytes, but has 2 of 18 bytes`,
    (db) => db.delete(spaces),
  ],
  [
    'a personal value',
    () => `counts values: 1 of 9 bytes, but has 0 of 0 bytes`,
    (db) => db.delete(values).where(ne(values.owner, '')),
  ],
  [
    'a player',
    () => `app ${app} has values of `,
    (db) => db.delete(players).where(ne(players.values, 0)),
  ],
  ['an app', () => `app ${app} was removed, but its documents are there`, (db) => db.delete(apps)],
]

test.each(harms)('doctor names what differs where %s was changed', async (_, line, harm) => {
  await t.ctx.db.tx(async (db) => void (await harm(db)))
  const { ok, text } = await runDoctor()
  expect(ok).toBe(false)
  expect(text).toContain('The data of apps is miscounted')
  expect(text).toContain(line())
})
