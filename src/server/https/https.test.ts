import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'

import {
  type AcmeServer,
  hasAcmeServer,
  startAcmeServer,
} from '../../testing/fixtures/acme-server.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { freePort } from '../../testing/free-port.ts'
import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../../testing/processes/server-process.ts'
import { until } from '../../testing/until.ts'

setDefaultTimeout(90_000)
const folder = temporaryFolder('berth-https-')
const [http, https] = [freePort(), freePort()]
const hosts = ['berth.example', 'apps.example'] as const
/** Short enough that a renewal is due within the test. */
const validSeconds = 15

let acme: AcmeServer

let server: ServerProcess | undefined
const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<number | undefined> => {
  server?.kill(signal)
  const code = await server?.exited
  server = undefined
  return code
}

async function serve(name: string, more: Record<string, string> = {}): Promise<void> {
  server = await startServerProcess(join(folder.path, name), {
    port: https,
    more: [...hosts],
    env: {
      HTTP_PORT: String(http),
      HOST: '127.0.0.1',
      ACME_DIRECTORY: acme.directory,
      NODE_EXTRA_CA_CERTS: acme.caFile,
      ...more,
    },
  })
}

/** Creates an agent and returns its key. */
async function newKey(): Promise<string> {
  const response = await get('/api/keys', hosts[0], { method: 'POST' })
  return textAt(await response.json(), 'key')
}

/** Requests a path of a host, whose certificate must be valid. */
const get = (path: string, host: string = hosts[0], init: RequestInit = {}): Promise<Response> =>
  fetch(`https://localhost:${https}${path}`, {
    ...init,
    headers: { host: `${host}:${https}`, ...init.headers },
    tls: { serverName: host, ca: acme.root },
  })

const plain = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${http}${path}`, { redirect: 'manual', headers })

/** Returns the serial number of the certificate that new connections get. */
const serial = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connectTls({ port: https, servername: hosts[0], ca: acme.root }, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.end()
    })
    socket.on('error', () => resolve(undefined))
  })

const pemsIn = (name: string): string[] => {
  const top = join(folder.path, name, 'certificates')
  return readdirSync(top, { recursive: true })
    .map((file) => join(top, String(file)))
    .filter((file) => file.endsWith('.pem'))
}

describe.if(hasAcmeServer)('a server with hosts of its own', () => {
  beforeAll(async () => {
    acme = await startAcmeServer(join(folder.path, 'acme'), { http, https }, validSeconds)
  })
  afterEach(() => stop())
  afterAll(async () => {
    await acme.close()
    folder.remove()
  })

  test('gets a certificate, leads http to https, and renews while requests run', async () => {
    await serve('data')
    const page = await get('/')
    expect([page.status, page.headers.get('strict-transport-security')]).toEqual([
      200,
      'max-age=31536000',
    ])
    expect((await get('/healthz', hosts[1])).status).toBe(200)
    const { status, headers } = await plain('/explore?q=a', { host: hosts[0] })
    expect([status, headers.get('location')]).toEqual([
      308,
      `https://${hosts[0]}:${https}/explore?q=a`,
    ])
    const foreign = await plain('/', { host: 'elsewhere.example' })
    expect(foreign.headers.get('location')).toBe(`https://${hosts[0]}:${https}/`)
    expect((await plain('/.well-known/acme-challenge/none')).status).toBe(404)
    for (const file of pemsIn('data')) expect(statSync(file).mode & 0o077).toBe(0)
    const checked = await runBerth(['health'], {
      env: { HTTPS_HOSTS: hosts.join(','), PORT: String(https), HOST: '127.0.0.1' },
    })
    expect(checked.out).toBe('ok\n')

    // Its socket is open while the certificate changes.
    const key = await newKey()
    const watch = await get('/api/me/events', hosts[0], {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    })
    const first = await serial()
    await until(async () => (await serial()) !== first)
    expect(watch.ok).toBe(true)
    await watch.body?.cancel()
    expect((await get('/healthz')).status).toBe(200)
    expect(await stop('SIGTERM')).toBe(0)
  })

  test('a stored certificate is used by the next start, without an order', async () => {
    await serve('again')
    const pem = pemsIn('again').map((file) => readFileSync(file, 'utf8'))
    await stop()
    await serve('again')
    expect(pemsIn('again').map((file) => readFileSync(file, 'utf8'))).toEqual(pem)
  })

  test('without port 80 the certificate comes through the port of HTTPS', async () => {
    const taken = Bun.listen({ hostname: '127.0.0.1', port: http, socket: { data() {} } })
    await serve('alpn')
    const first = await serial()
    expect(first).toBeDefined()
    await until(async () => ![undefined, first].includes(await serial()))
    taken.stop(true)
  })

  test('speaks HTTP/2, also for streams of events', async () => {
    await serve('h2')
    const key = await newKey()
    const session = connect(`https://${hosts[0]}:${https}`, {
      ca: acme.root,
      servername: hosts[0],
      lookup: (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    })
    const events = session.request({ ':path': '/api/me/events', authorization: `Bearer ${key}` })
    const headers = await new Promise((resolve) => events.on('response', resolve))
    expect(headers).toMatchObject({ ':status': 200, 'content-type': 'text/event-stream' })
    events.close()
    session.destroy()
    expect(await stop('SIGTERM')).toBe(0)
  })

  test('says over http why there is no certificate, and what to check', async () => {
    await serve('failed', { ACME_DIRECTORY: `${acme.directory}/none` })
    const response = await plain('/')
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '60'])
    expect(await response.text()).toContain(
      `Check that berth.example and apps.example lead to this machine, and that their port 80 reaches its port ${http}.`,
    )
    const { code, out, err } = await runBerth(['doctor', '--data', join(folder.path, 'failed')])
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('The certificate cannot be renewed: ')
  })
})
