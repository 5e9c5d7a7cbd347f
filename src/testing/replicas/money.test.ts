import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { runningPerKey } from '../../kernel/limits.ts'
import { json, scripts, type Step } from '../fakes/chat-scripts.ts'
import type { ServerProcess } from '../processes/server-process.ts'
import { until } from '../until.ts'
import { type Replicas, startReplicas } from './replicas.ts'

const rounds = 8

const body = (model: string, text = 'Hello.') => ({
  model: `fake/${model}`,
  max_tokens: 100,
  messages: [{ role: 'user', content: text }],
})

interface Call {
  key: string
  body: object
  ref?: string
  signal?: AbortSignal
}

const ask = ({ origin }: ServerProcess, { key, body: sent, ref, signal }: Call) =>
  fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(ref !== undefined && { 'idempotency-key': ref }),
    },
    body: JSON.stringify(sent),
    ...(signal && { signal }),
  })

if (dialect === 'postgres')
  describe('servers on one database', () => {
    let r: Replicas
    beforeAll(async () => {
      r = await startReplicas(3)
      const slow: Step[] = [{ waitMs: 100 }, ...(scripts.ok?.plain ?? [])]
      r.fake.script('fake/slow', slow)
    }, 60_000)
    afterAll(() => r.close())

    test('call the upstream once for one Idempotency-Key, and replay on each of them', async () => {
      const key = await r.newGatewayKey()
      for (let round = 0; round < rounds; round += 1) {
        const before = r.fake.received.length
        const call = { key, body: body('slow'), ref: `round-${round}` }
        const results = await Promise.all(r.servers.map((server) => ask(server, call)))
        const statuses = results.map(({ status }) => status)
        expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1)
        expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
        expect(r.fake.received.length).toBe(before + 1)
        const replays = await Promise.all(r.servers.map((server) => ask(server, call)))
        const texts = new Set(await Promise.all(replays.map((replay) => replay.text())))
        expect([...replays.map(({ status }) => status), texts.size]).toEqual([200, 200, 200, 1])
      }
      expect(await r.command(['doctor'])).toContain('sound')
    }, 60_000)

    test('release the key of a call that failed, on each of them', async () => {
      const key = await r.newGatewayKey()
      r.fake.script('fake/slow', json(400, { error: { message: 'no' } }))
      const call = { key, body: body('slow'), ref: 'failing' }
      for (const server of r.servers) expect((await ask(server, call)).status).toBe(400)
      const rows = await r.sql`select 1 from answers where status = 0`
      expect(rows).toHaveLength(0)
    })

    test('limit the running calls of a key together', async () => {
      const key = await r.newGatewayKey()
      const stop = new AbortController()
      const { signal } = stop
      const statuses: number[] = []
      const before = r.fake.received.length
      const calls = Array.from({ length: runningPerKey + 20 }, async (_, at) => {
        const server = r.servers[at % r.servers.length]
        if (!server) throw new Error('No server.')
        const result = await ask(server, { key, body: body('hang'), signal }).catch(() => undefined)
        if (result) statuses.push(result.status)
      })
      await until(() => statuses.length >= 20 && r.fake.received.length >= before + runningPerKey)
      // A call that comes later is limited too, so none of the others was still on its way.
      const [server] = r.servers
      if (server) expect((await ask(server, { key, body: body('hang') })).status).toBe(429)
      expect(statuses).toEqual(Array.from({ length: 20 }, () => 429))
      expect(r.fake.received.length).toBe(before + runningPerKey)
      stop.abort()
      await Promise.all(calls)
      const open = () => r.sql`select 1 from holds where state = 'held'`
      await until(async () => (await open()).length === 0)
    }, 30_000)
  })
