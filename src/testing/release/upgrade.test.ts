/** The binary itself upgrades a running server. server/cli/upgrade.test.ts tests the parts. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { generateKeyPairSync, sign } from 'node:crypto'
import { constants, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { sha256 } from '../../kernel/ids.ts'
import { version } from '../../kernel/version.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import { freePort } from '../free-port.ts'
import { binaryPath, runBerth, textAt } from '../processes/server-process.ts'

setDefaultTimeout(120_000)

const { path: home, remove } = temporaryFolder('berth-upgraded-')
const at = (name: string): string => join(home, name)
const program = [at('berth')]
copyFileSync(binaryPath, at('berth'), constants.COPYFILE_FICLONE)

let files: Record<string, string | Uint8Array<ArrayBuffer>> = {}
const releases = Bun.serve({
  port: 0,
  fetch: ({ url }) => new Response(files[new URL(url).pathname] ?? 'none'),
})
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const port = freePort()
const offline = { OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off' }

/** Starts the program again, and fails where it ends before it is ready, as systemd does. */
const restart = `
isRunning() { grep -q '^State:.[^Z]' "/proc/$1/status" 2>/dev/null; }
if [ -f pid ]; then kill "$(cat pid)"; while isRunning "$(cat pid)"; do sleep 0.05; done; fi
rm -f ready
./berth serve --json --port ${port} --data data >ready 2>>log & echo $! >pid
until [ -s ready ]; do isRunning $! || exit 1; sleep 0.05; done
`
const env = {
  ...offline,
  HOME: home,
  RELEASES_URL: releases.url.origin,
  RELEASES_KEY: Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString(
    'base64',
  ),
  RESTART_COMMAND: `cd '${home}' && sh restart.sh`,
}
writeFileSync(at('restart.sh'), restart)

afterAll(async () => {
  process.kill(Number(readFileSync(at('pid'), 'utf8')))
  await releases.stop(true)
  remove()
})

/** Releases version 9.9.9 for this machine: a script in the place of a binary. */
async function release(script: string): Promise<void> {
  const { out } = await runBerth(['version', '--json'], { program })
  const name = `berth-9.9.9-${textAt(JSON.parse(out), 'target')}.gz`
  const packed = Bun.gzipSync(Buffer.from(`#!/bin/sh\n${script}\n`))
  const sums = `${sha256(packed)}  ${name}\n`
  files = {
    '/stable': '9.9.9\n',
    [`/9.9.9/${name}`]: packed,
    '/9.9.9/SHA256SUMS': sums,
    '/9.9.9/SHA256SUMS.sig': sign(null, Buffer.from(sums), privateKey).toString('base64'),
  }
}

const upgrade = () => runBerth(['upgrade', '--port', `${port}`], { program, env, lifeMs: 90_000 })
const origin = `http://127.0.0.1:${port}`

test('a version that fails with the data is rolled back, and one that serves stays', async () => {
  expect(
    Bun.spawnSync(['sh', '-c', env.RESTART_COMMAND], { env: { ...Bun.env, ...offline } }).exitCode,
  ).toBe(0)
  const made = await (await fetch(`${origin}/api/keys`, { method: 'POST' })).json()
  const published = await fetch(`${origin}/api/apps`, {
    method: 'POST',
    headers: { authorization: `Bearer ${textAt(made, 'key')}` },
    body: JSON.stringify({ html: '<!doctype html><title>Reef</title>' }),
  })
  const link = textAt(await published.json(), 'app.link')

  // It serves the empty folder of the trial, and not the data.
  await release(`case "$*" in *berth-upgrade-*) exec '${binaryPath}' "$@" ;; esac; exit 1`)
  const failed = await upgrade()
  expect(failed).toEqual({
    code: 1,
    out: '',
    err: `Version 9.9.9 did not become ready at ${origin}. Version ${version} is back, and the server is ready.\n`,
  })
  expect((await fetch(link)).status).toBe(200)
  expect((await runBerth(['version'], { program })).out).toBe(`${version}\n`)
  expect(existsSync(at('berth.previous'))).toBe(false)

  await release(`exec '${binaryPath}' "$@"`)
  const done = await upgrade()
  expect([done.code, done.err]).toEqual([0, ''])
  expect(done.out).toContain('The server was restarted and is ready.')
  expect((await fetch(link)).status).toBe(200)
  expect(readFileSync(at('berth'), 'utf8')).toStartWith('#!/bin/sh')
  expect((await runBerth(['version'], { program: [at('berth.previous')] })).out).toBe(
    `${version}\n`,
  )
})
