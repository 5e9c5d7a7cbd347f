import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { recordOf } from '../../core/schema.ts'
import { stopwatch } from '../../core/time.ts'
import { dialect } from '../../db/dialect.ts'
import { type ServerProcess, textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'
import { type Replicas, startReplicas } from './replicas.ts'

/** Fifteen seconds, and as much again on a busy machine. */
const takeoverMs = 30_000

async function untilLong<T>(poll: () => Promise<T | false | undefined>): Promise<T> {
  const since = stopwatch()
  for (;;) {
    const found = await poll()
    if (found !== undefined && found !== false) return found
    if (stopwatch() - since > takeoverMs) throw new Error('It was not taken over.')
    await Bun.sleep(100)
  }
}

if (dialect === 'postgres')
  describe('a server that dies', () => {
    let r: Replicas
    let a: ServerProcess
    let b: ServerProcess
    beforeAll(async () => {
      r = await startReplicas(1, { env: { BUILDER_MODEL: 'fake/hang' } })
      const [first] = r.servers
      if (!first) throw new Error('No server.')
      a = first
      b = await r.start(1)
    }, 60_000)
    afterAll(() => r.close())

    const holderOf = async (job: string): Promise<string | undefined> => {
      const rows = await r.sql`select replicas.id from jobs join replicas
        on left(jobs.lease, length(replicas.id)) = replicas.id where jobs.id = ${job}`
      return rows[0]?.id
    }

    test('leaves its jobs, keys and holds to the others', async () => {
      const [oldest] = await r.sql`select id from replicas order by since limit 1`
      const [leader] = await r.sql`select process from leases where name = 'leader'`
      expect(leader?.process).toBe(oldest?.id)
      const agent = await a.newKey()
      const key = await r.newGatewayKey()
      const begun = { prompt: 'a game of coins', kind: 'game' }
      const job = textAt(await (await a.call('POST', '/api/apps', agent, begun)).json(), 'job.id')
      const before = await until(() => holderOf(job))
      const [dying, living] = before === oldest?.id ? [a, b] : [b, a]
      const call = (server: ServerProcess) =>
        fetch(`${server.origin}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'idempotency-key': 'once' },
          body: JSON.stringify({
            model: 'fake/hang',
            max_tokens: 100,
            messages: [{ role: 'user', content: 'Hello.' }],
          }),
        })
      const received = r.fake.received.length
      void call(dying).catch(() => undefined)
      await until(() => r.fake.received.length > received)
      expect((await call(living)).status).toBe(409)
      const watched = living.call('GET', `/api/jobs/${job}/events`, agent)

      dying.kill('SIGKILL')
      const killedAt = stopwatch()
      const after = await untilLong(async () => {
        const now = await holderOf(job)
        return now !== before && now
      })
      expect(after).not.toBe(before)
      // The charge of the call that died is found by its key, and it is not made again.
      const again = await untilLong(async () => {
        const result = await call(living)
        return result.status !== 409 && result
      })
      const ms = stopwatch() - killedAt
      expect([again.status, recordOf(await again.json()).error]).toEqual([
        502,
        expect.objectContaining({ code: 'unreadable_response' }),
      ])
      expect(ms).toBeLessThan(takeoverMs)
      await untilLong(async () => {
        const [now] = await r.sql`select process from leases where name = 'leader'`
        const alive = await r.sql`select id from replicas`
        return alive.length === 1 && now?.process === alive[0]?.id
      })
      expect((await living.call('DELETE', `/api/jobs/${job}`, agent)).status).toBe(200)
      expect(await (await watched).text()).toContain('cancelled')
      expect(await r.command(['doctor'])).toContain('sound')
    }, 120_000)
  })
