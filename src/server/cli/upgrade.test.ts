import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import { generateKeyPairSync, sign } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { loadConfig } from '../../kernel/config/load.ts'
import { sha256 } from '../../kernel/ids.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { freePort } from '../../testing/free-port.ts'
import { upgrade } from './upgrade.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const releasesKey = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')

/** A release server: the file of each path. */
let files: Record<string, string | Uint8Array<ArrayBuffer>> = {}
const server = Bun.serve({
  port: 0,
  fetch: (request) => {
    const content = files[new URL(request.url).pathname]
    return content === undefined ? new Response('', { status: 404 }) : new Response(content)
  },
})
afterAll(() => server.stop(true))

/**
 * A small server in the place of a binary. It starts only with a data folder that it accepts, and
 * serves HTTPS with the certificate of the file TLS.
 */
const programOf = (version: string, accepts: string): string => `#!/bin/sh
exec '${process.execPath}' -e '
  const [, , , port, , folder] = process.argv.slice(1)
  const { readdirSync, readFileSync } = require("node:fs")
  if (!(${accepts})(readdirSync(folder))) process.exit(1)
  const tls = process.env.TLS ? JSON.parse(readFileSync(process.env.TLS)) : undefined
  const served = Bun.serve({ port, tls, fetch: () => new Response("${version}") })
  console.log(JSON.stringify({ origin: served.url.origin }))
' -- "$@"
`
const always = '() => true'
const never = '() => false'
const onlyEmpty = '(names) => names.length === 0'

function release(version: string, accepts: string, key = privateKey): void {
  const packed = Bun.gzipSync(Buffer.from(programOf(version, accepts)))
  const name = `berth-${version}-linux-x64.gz`
  const sums = `${sha256('x')}  berth.1\n${sha256(packed)}  ${name}\n`
  files = {
    '/stable': `${version}\n`,
    [`/${version}/${name}`]: packed,
    [`/${version}/SHA256SUMS`]: sums,
    [`/${version}/SHA256SUMS.sig`]: `${sign(null, Buffer.from(sums), key).toString('base64')}\n`,
  }
}

let folder = ''
let path = ''
let remove = () => {}
beforeEach(() => {
  ;({ path: folder, remove } = temporaryFolder('berth-upgrade-test-'))
  path = join(folder, 'berth')
  writeFileSync(path, programOf('1.2.3', always))
  chmodSync(path, 0o755)
  writeFileSync(join(folder, 'database'), '')
})

afterEach(() => remove())

const own = () => ({ path, target: 'linux-x64', version: '1.2.3', readyMs: 10_000 })
const configOf = (settings: Record<string, string> = {}) =>
  loadConfig(
    {},
    {
      DATA_DIR: folder,
      RELEASES_URL: server.url.origin,
      RELEASES_KEY: releasesKey.toString('base64'),
      ...settings,
    },
  )
const present = (): string => readFileSync(path, 'utf8')

/** A server of the program at the path, which a command restarts. Returns the settings for it. */
function service(scheme: 'http' | 'https' = 'http') {
  const port = freePort()
  const script = join(folder, 'restart.sh')
  const tls = scheme === 'https' ? join(folder, 'tls.json') : ''
  const start = `TLS='${tls}' '${path}' serve --json --port ${port} --data '${folder}'`
  const kill = `[ ! -f '${folder}/pid' ] || kill "$(cat '${folder}/pid')" 2>/dev/null || true`
  writeFileSync(script, `${kill}\n${start} >/dev/null 2>&1 &\necho $! >'${folder}/pid'\n`)
  return {
    settings: { RESTART_COMMAND: `sh '${script}'`, PORT: String(port) },
    version: async () => {
      const response = await fetch(`${scheme}://localhost:${port}/`, {
        tls: { rejectUnauthorized: false },
      })
      return response.text()
    },
    stop: () => process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8'))),
  }
}

test('a newer version replaces the binary, which stays beside it', async () => {
  release('1.10.0', always)
  const result = await upgrade(configOf(), [], own())
  expect(result.text).toContain('Installed Berth 1.10.0. Version 1.2.3 is kept as')
  expect(result).toMatchObject({ ok: true })
  expect(present()).toBe(programOf('1.10.0', always))
  expect(readFileSync(`${path}.previous`, 'utf8')).toBe(programOf('1.2.3', always))
})

test('the same or an older version changes nothing', async () => {
  for (const version of ['1.2.3', '1.2.2', '0.99.0']) {
    release(version, always)
    expect(await upgrade(configOf(), [], own())).toEqual({
      ok: true,
      text: 'Berth 1.2.3 is the newest version of stable.',
      data: { version: '1.2.3', upgraded: false },
    })
  }
  expect(existsSync(`${path}.previous`)).toBe(false)
})

/** Upgrades, and expects that the present binary is left as it is. */
async function expectFailure(reason: string, settings = {}): Promise<void> {
  const result = await upgrade(configOf(settings), [], own())
  expect(result.text).toContain(reason)
  expect(result).toMatchObject({ ok: false })
  expect(present()).toBe(programOf('1.2.3', always))
  expect(existsSync(`${path}.new`)).toBe(false)
}

test('a download is installed only with the right checksum and signature', async () => {
  release('2.0.0', always, generateKeyPairSync('ed25519').privateKey)
  await expectFailure('The signature of 2.0.0 is not of RELEASES_KEY.')

  release('2.0.0', always)
  files['/2.0.0/berth-2.0.0-linux-x64.gz'] = Bun.gzipSync(Buffer.from('other'))
  await expectFailure('The checksum of berth-2.0.0-linux-x64.gz is wrong.')

  // A signed list of another version has no file of this one.
  release('1.0.0', always)
  files = {
    '/stable': '2.0.0',
    '/2.0.0/SHA256SUMS': files['/1.0.0/SHA256SUMS'] ?? '',
    '/2.0.0/SHA256SUMS.sig': files['/1.0.0/SHA256SUMS.sig'] ?? '',
  }
  await expectFailure('Version 2.0.0 has no binary for linux-x64.')

  files = { '/stable': '../../etc' }
  await expectFailure('sent no valid version')
  await expectFailure('Set RELEASES_KEY', { RELEASES_KEY: '' })
})

test('a version that does not start is not installed', async () => {
  release('2.0.0', never)
  await expectFailure('Version 2.0.0 does not start on this machine.')
})

test('the server is restarted with the new version', async () => {
  const { settings, version, stop } = service()
  release('2.0.0', always)
  const result = await upgrade(configOf(settings), [], own())
  expect(result.text).toContain('The server was restarted and is ready.')
  expect(await version()).toBe('2.0.0')
  stop()
})

/** Writes a certificate and its key, which nobody trusts. */
function writeCertificate(): void {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const about = ['-subj', '/CN=berth.example', '-days', '2', '-keyout', key, '-out', cert]
  const command = ['openssl', 'req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt']
  const { exitCode } = Bun.spawnSync([...command, 'ec_paramgen_curve:prime256v1', ...about])
  expect(exitCode).toBe(0)
  const pems = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  writeFileSync(join(folder, 'tls.json'), JSON.stringify(pems))
}

const hasNoOpenssl = Bun.which('openssl') === null
test.skipIf(hasNoOpenssl)('a server that serves HTTPS itself is restarted, too', async () => {
  writeCertificate()
  const { settings, version, stop } = service('https')
  release('2.0.0', always)
  const https = { ...settings, HTTPS_HOSTS: 'berth.example', HOST: '127.0.0.1' }
  const result = await upgrade(configOf(https), [], own())
  expect(result.text).toContain('The server was restarted and is ready.')
  expect(await version()).toBe('2.0.0')
  stop()
})

test('a version that does not become ready with the data is rolled back', async () => {
  const { settings, version, stop } = service()
  release('2.0.0', onlyEmpty)
  const result = await upgrade(configOf(settings), [], { ...own(), readyMs: 3_000 })
  expect(result.text).toContain('Version 1.2.3 is back, and the server is ready.')
  expect(result.ok).toBe(false)
  expect(present()).toBe(programOf('1.2.3', always))
  expect(await version()).toBe('1.2.3')
  stop()
})
