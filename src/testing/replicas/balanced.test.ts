import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'

import { dialect } from '../../kernel/db/columns.ts'
import { hasS3Server, type S3Server, startS3Server } from '../fixtures/s3-server.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import { textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'
import { type Helper, missingPackages, startBalancer, startPooler } from './balancer.ts'
import { Front } from './front.ts'
import { races } from './races.ts'
import { type Replicas, startReplicas } from './replicas.ts'

const html = '<!doctype html><title>Hello</title><h1>Hello</h1>'
/** Rounds of each race; scripts/soak/races.ts runs 200. */
const rounds = 3
/** Under load, a start of a server takes many seconds. */
const startMs = 240_000
const opens = 6

const missing = [...missingPackages, ...(hasS3Server ? [] : ['swift-proxy and swift-object'])]
if (dialect === 'postgres' && missing.length > 0) {
  console.log(`Skipping tests behind nginx and PgBouncer: install ${missing.join(' ')}.`)
}

if (dialect === 'postgres' && missing.length === 0)
  describe('three servers behind nginx, with PgBouncer in front of the database and a bucket', () => {
    let r: Replicas
    let front: Front
    let s3: S3Server
    let balancer: Helper
    let pooler: Awaited<ReturnType<typeof startPooler>>
    const folder = temporaryFolder('berth-balanced-')
    beforeAll(async () => {
      chmodSync(folder.path, 0o755)
      s3 = await startS3Server()
      r = await startReplicas(3, {
        bucket: await s3.createBucket(),
        through: async (url) => {
          pooler = await startPooler(join(folder.path, 'pooler'), url)
          return { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: url }
        },
      })
      const origins = r.servers.map(({ origin }) => origin)
      balancer = await startBalancer(join(folder.path, 'nginx'), origins)
      front = new Front(`http://127.0.0.1:${balancer.port}`)
    }, startMs)
    afterAll(async () => {
      await balancer.close()
      await r.close()
      await pooler.close()
      await s3.stop()
      folder.remove()
    })

    test('serve the journey of an app, each request by another server', async () => {
      const key = textAt(await front.ok({ method: 'POST', path: '/api/keys' }), 'key')
      const made = await front.ok({ method: 'POST', path: '/api/apps', key, body: { html } })
      const app = textAt(made, 'app.id')
      const data = { method: 'GET', path: `/a/${app}/data` }
      for (let version = 2; version < 6; version += 1) {
        const body = { html: html.replaceAll('Hello', `Hello ${version}`) }
        await front.ok({ method: 'POST', path: `/api/apps/${app}/versions`, key, body })
        await until(async () => String(await front.ok(data)).includes(`Hello ${version}`))
      }
      // The page is in the bucket, so each server has it.
      for (const server of r.servers) {
        expect(await (await server.call('GET', data.path)).text()).toContain('Hello 5')
      }
      await front.ok({ method: 'DELETE', path: `/api/apps/${app}`, key })
      await until(async () => {
        const opened = await Promise.all(Array.from({ length: opens }, () => front.send(data)))
        return opened.every(({ status }) => status === 410)
      })
    })

    for (const [prize, race] of Object.entries(races)) {
      test(`${prize} goes to one of many`, () => race({ r, front }, rounds), startMs)
    }

    test(
      'leave a sound ledger',
      async () => {
        expect(await r.command(['doctor'])).toContain('sound')
      },
      startMs,
    )
  })
