/**
 * `bun scripts/soak/bucket.ts [seconds]`: two servers with one PostgreSQL database and one bucket,
 * for 60 s or as given. A third of the requests to the bucket fail, lie or wait, and a server is
 * killed every five seconds. Every acknowledged page must open at both afterwards, and nothing else
 * may ever be served. Needs dist/berth and Debian's packages postgresql and swift-*.
 */
import { join } from 'node:path'

import { randomBelow } from '../../src/kernel/ids.ts'
import { startPostgresServer } from '../../src/testing/fixtures/postgres-server.ts'
import { s3Error, startS3Proxy } from '../../src/testing/fixtures/s3-proxy.ts'
import { bucketSettings, startS3Server } from '../../src/testing/fixtures/s3-server.ts'
import { temporaryFolder } from '../../src/testing/fixtures/temporary-folder.ts'
import {
  expect,
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../../src/testing/processes/server-process.ts'

const seconds = Number(Bun.argv[2] ?? 60)
const killEveryMs = 5_000
const workers = 6

const folder = temporaryFolder('berth-soak-')
const [postgres, s3] = await Promise.all([startPostgresServer(), startS3Server()])
const proxy = startS3Proxy(s3.url)
const bucket = await s3.createBucket(proxy.url)
const env = {
  DATABASE_URL: await postgres.create(),
  OLLAMA_HOST: 'off',
  ...bucketSettings(bucket),
}
const start = (index: number) => startServerProcess(join(folder.path, `data-${index}`), { env })
const servers: ServerProcess[] = [await start(0), await start(1)]
const pick = (): ServerProcess => {
  const server = servers[randomBelow(servers.length)]
  if (!server) throw new Error('No server runs.')
  return server
}

/** Breaks a third of the requests to the bucket. */
function breakSome(request: Request): ReturnType<NonNullable<typeof proxy.inject>> {
  const draw = randomBelow(12)
  if (draw === 0) return s3Error(503, 'SlowDown')
  if (draw === 1) return Bun.sleep(randomBelow(2_000)).then(() => s3Error(500, 'InternalError'))
  if (draw === 2 && request.method === 'GET') {
    return async (response) => new Response((await response.text()).toUpperCase(), response)
  }
  // The store has stored it, and the response is lost.
  return draw === 3 ? async () => s3Error(503, 'ServiceUnavailable') : undefined
}

const pages = new Map<string, string>()
const counts = { published: 0, rejected: 0, opened: 0, unavailable: 0, lost: 0, kills: 0 }
const until = performance.now() + seconds * 1_000

async function publish(key: string): Promise<void> {
  const html = `<!doctype html><title>Page</title>${crypto.randomUUID()}`.padEnd(20_000, ' lamp')
  const response = await pick().call('POST', '/api/apps', key, { html })
  if (response.status !== 201) return void (counts.rejected += 1)
  counts.published += 1
  pages.set(textAt(await response.json(), 'app.id'), html)
}

async function open(): Promise<void> {
  const all = [...pages]
  const page = all[randomBelow(Math.max(1, all.length))]
  if (!page) return
  const response = await pick().call('GET', `/a/${page[0]}/data`)
  if (response.status !== 200) return void (counts.unavailable += 1)
  counts.opened += 1
  expect((await response.text()) === page[1], `A page of the wrong content: ${page[0]}`)
}

async function work(key: string): Promise<void> {
  while (performance.now() < until) {
    const step = randomBelow(3) === 0 ? publish(key) : open()
    // A killed server drops its requests.
    await step.catch((error: unknown) => {
      if (String(error).includes('wrong content')) throw error
      counts.lost += 1
    })
  }
}

async function killSome(): Promise<void> {
  while (performance.now() + killEveryMs < until) {
    await Bun.sleep(killEveryMs)
    const index = randomBelow(servers.length)
    servers[index]?.kill('SIGKILL')
    await servers[index]?.exited
    counts.kills += 1
    // A start that meets an error of the bucket is repeated, as a service manager does.
    for (let tries = 0; tries < 20; tries += 1) {
      const server = await start(index).catch(() => undefined)
      if (!server) continue
      servers[index] = server
      break
    }
  }
}

try {
  const key = await pick().newKey()
  proxy.inject = breakSome
  await Promise.all([...Array.from({ length: workers }, () => work(key)), killSome()])
  proxy.inject = undefined
  await Bun.sleep(1_000)
  for (const server of servers) {
    for (const [id, html] of pages) {
      const response = await server.call('GET', `/a/${id}/data`)
      expect(response.status === 200, `${id} is ${response.status}`)
      expect((await response.text()) === html, `${id} has the wrong content`)
    }
  }
  const run = (words: string[]) => runBerth([...words, '--data', join(folder.path, 'own')], { env })
  const [check, doctor] = [await run(['storage', 'check']), await run(['doctor'])]
  console.log(`bucket: ${seconds} s, ${JSON.stringify(counts)}`)
  console.log(check.out + check.err + doctor.out + doctor.err)
  expect(check.code === 0 && doctor.code === 0 && counts.published > 0, 'Something is missing.')
} finally {
  for (const server of servers) server.kill('SIGKILL')
  await Promise.all(servers.map(({ exited }) => exited))
  await proxy.stop()
  await Promise.all([postgres.stop(), s3.stop()])
  folder.remove()
}
