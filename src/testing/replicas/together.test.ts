import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { recordOf } from '../../kernel/schema.ts'
import { openSession, type RealtimeClient } from '../fixtures/realtime-client.ts'
import { type ServerProcess, textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'
import { type Replicas, startReplicas } from './replicas.ts'

/** A player whose page is at one of the servers. */
interface Guest {
  id: string
  send(method: string, path: string, body?: object): Promise<Record<string, unknown>>
  connect(server: ServerProcess): Promise<RealtimeClient>
}

if (dialect === 'postgres')
  describe('players at two servers of a database', () => {
    let r: Replicas
    let a: ServerProcess
    let b: ServerProcess
    let app: string
    beforeAll(async () => {
      r = await startReplicas(2, { env: { STOP_DELAY_SECONDS: '2' } })
      const [first, second] = r.servers
      if (!first || !second) throw new Error('No servers.')
      a = first
      b = second
      const html = '<!doctype html><title>Board</title><p>Board'
      const sent = { html, uses: ['db', 'room', 'scores'] }
      app = textAt(
        await (await a.call('POST', '/api/apps', await a.newKey(), sent)).json(),
        'app.id',
      )
    }, 120_000)
    afterAll(() => r.close())

    async function guest(server: ServerProcess, name: string): Promise<Guest> {
      const call = (method: string, path: string, body?: object, cookie = '') =>
        fetch(`${server.origin}/api/apps/${app}${path}`, {
          method,
          headers: { 'content-type': 'application/json', cookie },
          ...(body && { body: JSON.stringify(body) }),
        })
      const joined = await call('POST', '/player', { name })
      const cookie = /^[^;]+/.exec(joined.headers.get('set-cookie') ?? '')?.[0] ?? ''
      return {
        id: textAt(await joined.json(), 'player.id'),
        send: async (method, path, body) =>
          recordOf(await (await call(method, path, body, cookie)).json()),
        connect: ({ origin }) =>
          openSession(`${origin}/api/apps/${app}/live`, { headers: { cookie } }),
      }
    }

    const set = (player: Guest, path: string, data: object) =>
      player.send('PUT', '/documents', { path, data })
    const idsOf = (event: Record<string, unknown>): string[] =>
      Object(event).docs.map(([, { id }]: [number, { id: string }]) => id)

    test('a document that one server takes reaches the pages of the other', async () => {
      const [ann, ben] = [await guest(a, 'Ann'), await guest(b, 'Ben')]
      const page = await ben.connect(b)
      page.send('watch', { watch: 1, query: { collection: 'games' } })
      expect(idsOf(await page.next('documents'))).toEqual([])
      await set(ann, 'games/1', { turn: 'x' })
      const change = await page.next('documents')
      expect(idsOf(change)).toEqual(['1'])
      expect(Object(change).docs[0][1].author).toBe(ann.id)
      page.close()
    }, 60_000)

    test('a page that comes back at the other server misses nothing', async () => {
      const [ann, ben] = [await guest(a, 'Ann'), await guest(b, 'Ben')]
      for (const id of ['1', '2', '3']) await set(ann, `moves/${id}`, { id })
      const page = await ben.connect(b)
      const query = { collection: 'moves' }
      page.send('watch', { watch: 1, query })
      const { version } = await page.next('documents')
      page.close()
      await page.closed
      await set(ann, 'moves/2', { id: 'changed' })
      await ann.send('DELETE', '/documents?path=moves/1')
      await set(ben, 'moves/4', {})
      const again = await ben.connect(a)
      again.send('watch', { watch: 1, query, since: version })
      const missed = await again.next('documents')
      expect(idsOf(missed)).toEqual(['2', '4'])
      expect(missed).toMatchObject({ ids: ['2', '3', '4'] })
      await set(ben, 'moves/5', {})
      expect(idsOf(await again.next('documents'))).toEqual(['5'])
      again.close()
    }, 60_000)

    test('a room has the pages of both servers, with their presence and events', async () => {
      const [ann, ben] = [await guest(a, 'Ann'), await guest(b, 'Ben')]
      const [one, two] = [await ann.connect(a), await ben.connect(b)]
      one.send('join', { room: 'lobby', presence: { x: 0 } })
      const { you } = await one.next('room')
      two.send('join', { room: 'lobby' })
      const seen = (page: RealtimeClient, text: string) =>
        until(() => page.events.some((event) => JSON.stringify(event).includes(text)))
      await seen(two, `"by":"${ann.id}"`)
      await seen(one, `"by":"${ben.id}"`)
      one.send('presence', { room: 'lobby', data: { x: 41 } })
      await seen(two, `"${you}":{"x":41}`)
      two.send('emit', { room: 'lobby', topic: 'hi', data: 'from the other server' })
      expect(await one.next('event')).toMatchObject({ data: 'from the other server' })
      two.close()
      await until(() => one.events.some((event) => 'left' in event))
      one.close()
    }, 60_000)

    test('a score and the end of a challenge are seen at the other server', async () => {
      const [ann, ben] = [await guest(a, 'Ann'), await guest(b, 'Ben')]
      const sent = await ann.send('POST', '/challenges', { score: 90, seed: 5 })
      const challenge = textAt(sent, 'challenge.id')
      expect(await ben.send('GET', `/challenges/${challenge}`)).toMatchObject({
        challenge: { seed: 5, by: 'Ann' },
      })
      expect(await ben.send('POST', '/scores', { score: 95, challenge })).toMatchObject({
        challenge: { by: 'Ann', score: 90, result: 'won' },
      })
      expect(await ann.send('GET', '/scores')).toMatchObject({
        scores: [{ name: 'Ben', score: 95 }],
      })
      expect(await ann.send('GET', '/challenges')).toMatchObject({
        challenges: [{ best: { score: 95, by: 'Ben' } }],
      })
    }, 60_000)
  })
