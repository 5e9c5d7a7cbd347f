import { afterAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { filled } from '../../../scripts/packaging/template.ts'
import { sha256 } from '../../kernel/ids.ts'
import { version } from '../../kernel/version.ts'
import { findWhole } from '../browsers/browser.ts'
import { borrowBrowser } from '../browsers/session.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'
import { startTestServer } from '../fixtures/test-server.ts'
import { freePort } from '../free-port.ts'
import { readUntil } from '../processes/binary.ts'
import { binaryPath } from '../processes/server-process.ts'

setDefaultTimeout(120_000)

const { path: home, remove } = temporaryFolder('berth-install-')

/** A release with every binary that this machine may choose: a script that runs dist/berth. */
const packed = Bun.gzipSync(Buffer.from(`#!/bin/sh\nexec '${binaryPath}' "$@"\n`))
const cpu = process.arch === 'x64' ? 'x64' : 'arm64'
const names = [`linux-${cpu}`, `linux-${cpu}-baseline`, `linux-${cpu}-musl`, `darwin-${cpu}`].map(
  (target) => `berth-${version}-${target}.gz`,
)
let files: Record<string, string | Uint8Array<ArrayBuffer>> = {}
beforeEach(() => {
  files = {
    '/install.sh': filled('install.sh'),
    '/stable': `${version}\n`,
    [`/${version}/SHA256SUMS`]: names.map((name) => `${sha256(packed)}  ${name}\n`).join(''),
    ...Object.fromEntries(names.map((name) => [`/${version}/${name}`, packed])),
  }
})
const releases = Bun.serve({
  port: 0,
  fetch: (request) => {
    const content = files[new URL(request.url).pathname]
    return content === undefined ? new Response('', { status: 404 }) : new Response(content)
  },
})
const t = await startTestServer({ RELEASES_URL: releases.url.origin })
afterAll(async () => {
  await releases.stop(true)
  await t.close()
  remove()
})

async function shell(script: string) {
  const child = Bun.spawn(['sh', '-c', script], {
    cwd: home,
    env: { PATH: Bun.env.PATH, HOME: home, BERTH_RELEASES: releases.url.origin },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { out, err, code }
}
const installer = `curl -fsSL ${releases.url.origin}/install.sh | sh`
const installed = join(home, '.local/bin/berth')

test('the installer stops at a wrong checksum, a missing file and a bad version', async () => {
  const damages: [path: string, content: string | undefined, reason: string][] = [
    [
      `/${version}/SHA256SUMS`,
      names.map((name) => `${sha256('')}  ${name}\n`).join(''),
      'checksum',
    ],
    [`/${version}/SHA256SUMS`, 'other\n', `SHA256SUMS of ${version} has no berth-`],
    [`/${version}/SHA256SUMS`, undefined, 'could not be downloaded'],
    ['/stable', '../../tmp\n', 'the channel names no version'],
  ]
  for (const [path, content, reason] of damages) {
    const { [path]: whole, ...others } = files
    files = content === undefined ? others : { ...others, [path]: content }
    const { err, code } = await shell(installer)
    expect(err).toContain('Berth was not installed: ')
    expect(err).toContain(reason)
    expect(code).toBe(1)
    expect(readdirSync(dirname(installed))).toEqual([])
    files = { ...files, [path]: whole ?? '' }
  }
})

test('the installer says that its folder cannot be written, before it downloads', async () => {
  const { out, err, code } = await shell(installer.replace('| sh', '| BERTH_DIR=/proc/none sh'))
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain('/proc/none cannot be written. Set BERTH_DIR to another folder.')
})

test('the installer shows why a binary does not run, and what it needs', async () => {
  const old = Bun.gzipSync(Buffer.from('#!/bin/sh\necho "GLIBC_2.17 not found" >&2\nexit 1\n'))
  for (const name of names) files[`/${version}/${name}`] = old
  files[`/${version}/SHA256SUMS`] = names.map((name) => `${sha256(old)}  ${name}\n`).join('')
  const { err, code } = await shell(installer)
  expect(err).toStartWith('GLIBC_2.17 not found\n')
  expect([code, err]).toEqual([1, expect.stringContaining('it needs glibc 2.17 or later.\n')])
  expect(readdirSync(dirname(installed))).toEqual([])
})

test('the installer names what the binary for musl needs', async () => {
  const name = `berth-${version}-linux-${cpu}-musl.gz`
  const unusable = Bun.gzipSync(Buffer.from('#!/bin/sh\nexit 127\n'))
  files[`/${version}/${name}`] = unusable
  files[`/${version}/SHA256SUMS`] = `${sha256(unusable)}  ${name}\n`
  mkdirSync(join(home, 'alpine'))
  writeFileSync(join(home, 'alpine/ldd'), '#!/bin/sh\necho musl libc\n', { mode: 0o755 })
  const { err, code } = await shell(`PATH='${home}/alpine':$PATH; ${installer}`)
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/needs libstdc\+\+: apk add libstdc\+\+\n$/),
  ])
})

test('an agent that follows /install.md to the letter has a server, a page and a chat', async () => {
  const page = await t.request('GET', '/install.md')
  expect(page.headers.get('content-type')).toStartWith('text/markdown')
  const blocks = [...String(page.body).matchAll(/^```sh\n(.*?)^```/gms)].map(
    ([, text = '']) => text,
  )
  expect(blocks).toHaveLength(5)
  const script = blocks.join('\n').replace('port = 3000', `port = ${freePort()}`)

  const { out, err, code } = await shell(script)
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('Installed Berth ')
  expect(out).toContain('Nothing else was changed.')
  expect(out).toContain('"content":"Ahoy"')
  const [, link = ''] = /^Page: {5}(.*)$/m.exec(out) ?? []
  expect((await fetch(link)).status).toBe(200)
  expect(out).toMatch(/^Operator: http.*\/welcome\//m)
  expect(out).not.toContain('ak_')
  expect(existsSync(join(home, 'berth/data'))).toBe(true)
  process.kill(Number(readFileSync(join(home, 'berth/berth.pid'), 'utf8')))
})

/** Writes the release into a folder, as someone gets it who has no network. */
function writeRelease(folder: string): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** Opens a page of the server in Chromium, presses its button and returns what that then says. */
async function play(executablePath: string, link: string): Promise<string | null> {
  const { browser, giveBack } = await borrowBrowser(executablePath)
  try {
    const page = await browser.newPage()
    await page.goto(link)
    const button = page.frameLocator('iframe').locator('button')
    await button.click()
    return await button.textContent()
  } finally {
    await giveBack()
  }
}

test('a stranger with a folder of a release installs, serves, publishes and plays', async () => {
  const release = join(home, 'release')
  writeRelease(release)
  const folder = join(home, 'stranger')
  mkdirSync(folder)
  const installation = await shell(
    `BERTH_RELEASES='file://${release}' BERTH_DIR='${folder}' sh '${release}/install.sh'`,
  )
  expect([installation.code, installation.err]).toEqual([0, ''])

  const berth = join(folder, 'berth')
  const served = Bun.spawn([berth, 'serve', '--port', String(freePort())], {
    cwd: folder,
    env: { PATH: Bun.env.PATH, HOME: folder },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [, game = ''] = /play +(http\S+)\s/.exec(await readUntil(served, /play .*\n[^]*\n\n/)) ?? []
  expect((await fetch(game)).status).toBe(200)

  const dive = `<button onclick="this.textContent = 'Under water'">Dive</button>`
  writeFileSync(join(folder, 'reef.html'), `<!doctype html><title>Reef</title>${dive}`)
  const { origin } = new URL(game)
  const published = await shell(`cd '${folder}' && BERTH_URL=${origin} ./berth publish reef.html`)
  expect([published.code, published.out]).toEqual([0, expect.stringMatching(/^http\S+\n$/)])
  const chromiumPath = findWhole()
  if (chromiumPath) expect(await play(chromiumPath, published.out.trim())).toBe('Under water')
  served.kill()
  expect(await served.exited).toBe(0)
})
