/** Two servers with one PostgreSQL database and one bucket, and their restore from a backup. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'

import { systemClock } from '../../kernel/time.ts'
import { type Bucket, S3Client } from '../../store/s3/client.ts'
import { listObjects } from '../../store/s3/objects.ts'
import {
  hasPostgresServer,
  type PostgresServer,
  startPostgresServer,
} from '../fixtures/postgres-server.ts'
import { s3Error, type S3Proxy, startS3Proxy } from '../fixtures/s3-proxy.ts'
import { bucketSettings, hasS3Server, type S3Server, startS3Server } from '../fixtures/s3-server.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../processes/server-process.ts'

let postgres: PostgresServer
let s3: S3Server
let proxy: S3Proxy
let bucket: Bucket
let folder: ReturnType<typeof temporaryFolder>
let url = ''
let [one, other]: (ServerProcess | undefined)[] = []
const running = new Set<ServerProcess>()

const at = (name: string): string => join(folder.path, name)

async function serve(name: string, env: Record<string, string>): Promise<ServerProcess> {
  const server = await startServerProcess(at(name), { env })
  running.add(server)
  return server
}

async function stop(server: ServerProcess): Promise<void> {
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  running.delete(server)
}

const servers = (): [ServerProcess, ServerProcess] => {
  if (!one || !other) throw new Error('The servers did not start.')
  return [one, other]
}

/** Publishes a page and returns its id and its text. */
async function publish(on: ServerProcess, key: string): Promise<[id: string, html: string]> {
  const html = `<!doctype html><title>Page</title>${crypto.randomUUID()}`.padEnd(9_000, ' lamp')
  const response = await on.call('POST', '/api/apps', key, { html })
  expect(response.status).toBe(201)
  return [textAt(await response.json(), 'app.id'), html]
}

const open = (on: ServerProcess, id: string): Promise<Response> => on.call('GET', `/a/${id}/data`)

describe.skipIf(!hasS3Server || !hasPostgresServer)('servers with a bucket', () => {
  beforeAll(async () => {
    folder = temporaryFolder('berth-bucket-')
    ;[postgres, s3] = await Promise.all([startPostgresServer(), startS3Server()])
    proxy = startS3Proxy(s3.url)
    bucket = await s3.createBucket(proxy.url)
    url = await postgres.create()
    const env = { DATABASE_URL: url, ...bucketSettings(bucket) }
    one = await serve('one', env)
    other = await serve('other', env)
  }, 120_000)
  afterAll(async () => {
    for (const server of running) server.kill('SIGKILL')
    await Promise.all([...running].map(({ exited }) => exited))
    await proxy?.stop()
    await Promise.all([postgres?.stop(), s3?.stop()])
    folder?.remove()
  })
  afterEach(() => {
    proxy.inject = undefined
  })

  test('what one server stores opens at the other, whole and by range', async () => {
    const [first, second] = servers()
    const key = await first.newKey()
    const [id, html] = await publish(first, key)
    expect(await (await open(second, id)).text()).toBe(html)
    const asset = new TextEncoder().encode(JSON.stringify(Array.from({ length: 99 }, (_, n) => n)))
    await first.call('PUT', `/api/apps/${id}/assets/a.json`, key, asset)
    const listed = await second.call('GET', `/api/apps/${id}/assets`, key)
    const link = textAt(await listed.json(), 'assets.0.url')
    const range = await fetch(link, { headers: { range: 'bytes=10-19' } })
    expect([range.status, range.headers.get('content-range')]).toEqual([
      206,
      `bytes 10-19/${asset.length}`,
    ])
    expect(await range.bytes()).toEqual(asset.slice(10, 20))
  }, 60_000)

  test('while the bucket fails, nothing is stored or charged and cached pages open', async () => {
    const [first, second] = servers()
    const key = await first.newKey()
    const [id, html] = await publish(first, key)
    const stateOf = async () => {
      const [me, apps] = [
        await first.call('GET', '/api/me', key),
        await first.call('GET', '/api/apps', key),
      ]
      return [await me.json(), await apps.json()]
    }
    const before = await stateOf()
    proxy.inject = () => s3Error(503, 'ServiceUnavailable')
    const page = await first.call('POST', '/api/apps', key, { html: `${html} again` })
    expect(page.status).toBe(503)
    expect(await page.json()).toMatchObject({ code: 'try_again' })
    const image = { model: 'demo/image', prompt: 'a harbour' }
    expect((await first.call('POST', '/v1/images/generations', key, image)).status).toBe(503)
    expect(await stateOf()).toEqual(before)
    expect(await (await open(first, id)).text()).toBe(html)
    expect((await open(second, id)).status).toBe(503)
    const ready = await second.call('GET', '/readyz')
    expect([ready.status, await ready.json()]).toMatchObject([200, { files: 'unavailable' }])
    proxy.inject = (request) =>
      request.method === 'GET' ? async () => new Response('forged') : undefined
    const forged = await open(second, id)
    expect(forged.status).toBe(503)
    expect(await forged.text()).not.toContain('forged')
    proxy.inject = undefined
    expect(await (await open(second, id)).text()).toBe(html)
    const after = await second.call('GET', '/readyz')
    expect(await after.json()).toEqual({ ok: true })
  }, 120_000)

  test('a server with other files does not start', async () => {
    const rejects = async (name: string, env: Record<string, string>, reason: RegExp) => {
      const started = startServerProcess(at(name), { env: { DATABASE_URL: url, ...env } })
      await expect(started).rejects.toThrow(reason)
    }
    const wrong = await s3.createBucket()
    await rejects('third', {}, new RegExp(`are in the bucket ${bucket.bucket}/`))
    await rejects('third', bucketSettings(wrong), new RegExp(`are in the bucket ${bucket.bucket}/`))
    const missing = { ...bucketSettings(bucket), S3_BUCKET: 'berth-missing' }
    await rejects('third', missing, /S3_BUCKET berth-missing does not exist/)
  }, 60_000)

  test('pg_dump and a bucket with versions restore every acknowledged page', async () => {
    const [first, second] = servers()
    const direct = { ...bucket, endpoint: s3.url }
    const client = new S3Client(direct, { clock: systemClock })
    const body =
      '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
      '<Status>Enabled</Status></VersioningConfiguration>'
    await client.attempt(
      { method: 'PUT', key: '', query: { versioning: '' }, body },
      async () => true,
    )
    const key = await first.newKey()
    const pages = [await publish(first, key), await publish(second, key)]
    await postgres.run('pg_dump', ['--format=custom', `--file=${at('berth.dump')}`, url])
    const [later] = await publish(first, key)
    await Promise.all([stop(first), stop(second)])
    for await (const page of listObjects(client, 'files/')) {
      for (const { name } of page) {
        await client.send({ method: 'DELETE', key: `files/${name}` }, async () => true)
      }
    }
    const fresh = await postgres.create()
    await postgres.run('pg_restore', ['--no-owner', `--dbname=${fresh}`, at('berth.dump')])
    const env = { DATABASE_URL: fresh, ...bucketSettings(direct) }
    const check = await runBerth(['storage', 'check', '--data', at('restored')], { env })
    expect(check).toMatchObject({ code: 0, out: expect.stringContaining('are back') })
    const restored = await serve('restored', env)
    for (const [id, html] of pages) expect(await (await open(restored, id)).text()).toBe(html)
    expect((await open(restored, later)).status).toBe(404)
    const doctor = await runBerth(['doctor', '--data', at('restored')], { env })
    expect(doctor).toMatchObject({ code: 0, out: expect.stringContaining('sound') })
  }, 120_000)

  test('berth storage copy moves a data folder into a bucket', async () => {
    const database = await postgres.create()
    const target = await s3.createBucket()
    const inFolder = { DATABASE_URL: database }
    const inBucket = { ...inFolder, ...bucketSettings(target) }
    const before = await serve('moved', inFolder)
    const key = await before.newKey()
    const [id, html] = await publish(before, key)
    cpSync(at('moved'), at('copy'), { recursive: true, filter: (path) => !path.endsWith('.sock') })
    const onCopy = startServerProcess(at('copy'), { env: inFolder }).catch(String)
    await expect(startServerProcess(at('second'), { env: inFolder })).rejects.toThrow(
      'are in another data folder',
    )
    await expect(startServerProcess(at('third'), { env: inBucket })).rejects.toThrow(
      'berth storage copy',
    )
    const copy = () => runBerth(['storage', 'copy', '--data', at('moved')], { env: inBucket })
    expect((await copy()).out).toContain('stop it and run this command again')
    const [next, nextHtml] = await publish(before, key)
    expect(await onCopy).toContain('Another server uses this database with a copy')
    await stop(before)
    expect((await copy()).out).toContain('Start the server with the same settings')
    const after = await serve('elsewhere', inBucket)
    expect(await (await open(after, id)).text()).toBe(html)
    expect(await (await open(after, next)).text()).toBe(nextHtml)
    await expect(startServerProcess(at('moved'), { env: inFolder })).rejects.toThrow(
      'are in the bucket',
    )
  }, 120_000)
})
