import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { recordOf } from '../../core/schema.ts'
import { dialect } from '../../db/dialect.ts'
import { textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'
import { type Helper, missingPackages, startBalancer, startPooler } from './balancer.ts'
import { type Replicas, startReplicas } from './replicas.ts'

const html = '<!doctype html><title>Hello</title><h1>Hello</h1>'
/** Rounds of each race; scripts/soak/replicas.ts runs more. */
const rounds = 5
const racers = 6

if (dialect === 'postgres' && missingPackages.length > 0) {
  console.log(`Skipping tests behind nginx and PgBouncer: install ${missingPackages.join(' ')}.`)
}

if (dialect === 'postgres' && missingPackages.length === 0)
  describe('three servers behind nginx, with PgBouncer in front of the database', () => {
    let r: Replicas
    let balancer: Helper
    let pooler: Awaited<ReturnType<typeof startPooler>>
    const folder = mkdtempSync(join(tmpdir(), 'berth-balanced-'))
    beforeAll(async () => {
      chmodSync(folder, 0o755)
      r = await startReplicas(3, {
        through: async (url) => {
          pooler = await startPooler(join(folder, 'pooler'), url)
          return { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: url }
        },
      })
      const origins = r.servers.map(({ origin }) => origin)
      balancer = await startBalancer(join(folder, 'nginx'), origins)
    }, 60_000)
    afterAll(async () => {
      await balancer.close()
      await r.close()
      await pooler.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const call = (method: string, path: string, key?: string, body?: unknown, ref?: string) =>
      fetch(`http://127.0.0.1:${balancer.port}${path}`, {
        method,
        headers: {
          ...(key && { authorization: `Bearer ${key}` }),
          ...(ref && { 'idempotency-key': ref }),
          'content-type': 'application/json',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    const ok = async (response: Promise<Response>): Promise<unknown> => {
      const { status, ...rest } = { status: (await response).status, response: await response }
      const text = await rest.response.text()
      if (status >= 300) throw new Error(`${status} ${text}`)
      return text.startsWith('{') ? JSON.parse(text) : text
    }
    const newAgent = async () => textAt(await ok(call('POST', '/api/keys')), 'key')
    const race = <T>(act: (at: number) => Promise<T>) =>
      Promise.all(Array.from({ length: racers }, (_, at) => act(at)))
    const hello = {
      model: 'fake/ok',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi.' }],
    }

    test('serve the journey of an app, each request by another server', async () => {
      const key = await newAgent()
      const app = textAt(await ok(call('POST', '/api/apps', key, { html })), 'app.id')
      for (let version = 2; version < 8; version += 1) {
        const page = html.replaceAll('Hello', `Hello ${version}`)
        await ok(call('POST', `/api/apps/${app}/versions`, key, { html: page }))
        await until(async () =>
          String(await ok(call('GET', `/a/${app}/data`))).includes(`Hello ${version}`),
        )
      }
      await ok(call('DELETE', `/api/apps/${app}`, key))
      await Bun.sleep(1_000)
      const opened = await race(() => call('GET', `/a/${app}/data`))
      expect(opened.map(({ status }) => status)).toEqual(Array.from({ length: racers }, () => 410))
    })

    test('charge each call of the gateway once', async () => {
      const key = await r.newGatewayKey()
      for (let round = 0; round < rounds; round += 1) {
        const before = r.fake.received.length
        const results = await race(() =>
          call('POST', '/v1/chat/completions', key, hello, `race-${round}`),
        )
        const statuses = results.map(({ status }) => status)
        expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([])
        expect(statuses).toContain(200)
        expect(r.fake.received.length).toBe(before + 1)
      }
      const { total } = recordOf(await ok(call('GET', '/queries/history', key)))
      expect(total).toBe(rounds)
    })

    test('give a handle, and a name of the same ref, to one of many', async () => {
      for (let round = 0; round < rounds; round += 1) {
        const handles = await race(() =>
          call('POST', '/api/keys', undefined, { handle: `one-${round}` }),
        )
        expect(handles.filter(({ status }) => status === 201)).toHaveLength(1)
        const key = await newAgent()
        const apps = await race(() => call('POST', '/api/apps', key, { html }, `ref-${round}`))
        expect(apps.filter(({ status }) => status >= 300 && status !== 409)).toEqual([])
        const made = await Promise.all(
          apps
            .filter(({ status }) => status < 300)
            .map(async (app) => textAt(await app.json(), 'app.id')),
        )
        expect(new Set(made).size).toBe(1)
        expect(apps.every(({ status }) => status < 300 || status === 409)).toBe(true)
      }
      expect(await r.command(['doctor'])).toContain('sound')
    })
  })
