import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { recordOf } from '../../kernel/schema.ts'
import { type ServerProcess, textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'
import { type Replicas, startReplicas } from './replicas.ts'

/** It takes fifteen seconds; a busy machine gets ten times as long. */
const takeoverMs = 150_000
const testMs = 400_000

const untilLong = <T>(poll: () => Promise<T | false | undefined>): Promise<T> =>
  until(poll, takeoverMs)

const videoModel = `[[model]]
id = "fake/video-ok"
upstream = "fake"
upstream_model = "fake/video-ok"
type = "video"
price = { per_second = "0.1" }
`

/** Calls a model that never responds, with one Idempotency-Key. */
const callOnce = (server: ServerProcess, key: string) =>
  fetch(`${server.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'idempotency-key': 'once' },
    body: JSON.stringify({
      model: 'fake/hang',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello.' }],
    }),
  })

if (dialect === 'postgres')
  describe('a server that dies', () => {
    let r: Replicas
    let receiver: Bun.Server<undefined>
    /** Requests of webhooks. The first one has no response. */
    let hooked = 0
    beforeAll(async () => {
      receiver = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        idleTimeout: 0,
        fetch: () => {
          hooked += 1
          return hooked > 1 ? new Response('ok') : new Promise<Response>(() => {})
        },
      })
      const env = { BUILDER_MODEL: 'fake/hang', HOOKS_TO_PRIVATE: 'on', VIDEO_POLL_SECONDS: '1' }
      r = await startReplicas(1, { env, toml: videoModel })
      r.fake.script('/videos/film', [{ do: 'hang' }])
    }, testMs)
    afterAll(async () => {
      await r.close()
      await receiver.stop(true)
    })

    /** Returns the jobs of a server by kind. */
    const jobsOf = async (server: string): Promise<string[]> => {
      const rows: { kind: string }[] = await r.sql`select kind from jobs
        where left(lease, length(${server}::text)) = ${server} order by kind`
      return rows.map(({ kind }) => kind)
    }
    const polls = () => r.fake.received.filter(({ path }) => path.endsWith('/videos/film')).length

    /** Starts a build and a video, which hang. Returns the id of the build. */
    async function beginJobs(server: ServerProcess, agent: string, key: string): Promise<string> {
      const begun = { prompt: 'a game of coins', kind: 'game' }
      const made: unknown = await (await server.call('POST', '/api/apps', agent, begun)).json()
      const video = { model: 'fake/video-ok', prompt: 'A boat', duration: '1' }
      expect((await server.call('POST', '/v1/videos', key, video)).status).toBe(200)
      return textAt(made, 'job.id')
    }

    /** Sends a webhook of a grant. */
    async function beginHook(server: ServerProcess, agent: string): Promise<void> {
      const hook = { url: `http://127.0.0.1:${receiver.port}/`, kinds: ['credits.received'] }
      expect((await server.call('POST', '/api/me/hooks', agent, hook)).status).toBe(201)
      const me: unknown = await (await server.call('GET', '/api/me', agent)).json()
      await r.command(['grant', `@${textAt(me, 'handle')}`, '1'])
    }

    test(
      'leaves its builds, videos, webhooks, keys and holds to the others',
      async () => {
        const [dying] = r.servers
        if (!dying) throw new Error('No server.')
        const [agent, key] = [await dying.newKey(), await r.newGatewayKey()]
        const job = await beginJobs(dying, agent, key)
        const [{ id: before }] = await r.sql`select id from replicas`
        // The job of a video has the lease while a poll runs.
        const kinds = await untilLong(async () => {
          const found = await jobsOf(before)
          return found.length === 2 && polls() > 0 && found
        })
        expect(kinds).toContain('video')
        const living = await r.start(1)
        const [{ id: after }] = await r.sql`select id from replicas where id <> ${before}`
        const call = (server: ServerProcess) => callOnce(server, key)
        const received = r.fake.received.length
        void call(dying).catch(() => undefined)
        await r.fake.arrival(received)
        expect((await call(living)).status).toBe(409)
        const watched = living.call('GET', `/api/jobs/${job}/events`, agent)

        await beginHook(living, agent)
        await untilLong(async () => hooked === 1)
        const filmed = polls()
        dying.kill('SIGKILL')
        await untilLong(async () => polls() > filmed)
        await untilLong(async () => (await jobsOf(after)).includes('video'))
        await untilLong(async () => {
          const [row] = await r.sql`select lease from jobs where id = ${job}`
          return String(row?.lease).startsWith(after)
        })
        await untilLong(async () => {
          const rows = await r.sql`select 1 from deliveries where state = 'delivered'`
          return rows.length === 1
        })
        // The charge of the call that died is found by its key, and it is not made again.
        const again = await untilLong(async () => {
          const result = await call(living)
          return result.status !== 409 && result
        })
        expect([again.status, recordOf(await again.json()).error]).toEqual([
          502,
          expect.objectContaining({ code: 'unreadable_response' }),
        ])
        await untilLong(async () => {
          const [now] = await r.sql`select process from leases where name = 'leader'`
          const alive = await r.sql`select id from replicas`
          return alive.length === 1 && now?.process === alive[0]?.id
        })
        expect((await living.call('DELETE', `/api/jobs/${job}`, agent)).status).toBe(200)
        expect(await (await watched).text()).toContain('cancelled')
        expect(await r.command(['doctor'])).toContain('sound')
      },
      testMs,
    )
  })
