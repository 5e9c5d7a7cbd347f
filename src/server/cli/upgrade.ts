import { chmodSync, linkSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { localOrigin } from '../../kernel/config/load.ts'
import type { Config } from '../../kernel/config/settings.ts'
import { sha256 } from '../../kernel/ids.ts'
import { endWithStop, messageOf } from '../../kernel/text.ts'
import { minute, second, stopwatch } from '../../kernel/time.ts'
import { target, version } from '../../kernel/version.ts'
import { type CommandResult, failed, succeeded } from '../operator/command-result.ts'

const listBytesMax = 65_536
const binaryBytesMax = 512 * 1_048_576
const listMs = 30 * second
const downloadMs = 15 * minute
/** A migration of a large database takes this long at most. */
const readyMs = 2 * minute
const pollMs = 250

/** The program to replace, and the waits, which tests shorten. */
const installed = { path: process.execPath, target, version, readyMs }
type Installed = typeof installed

const expected = (name: string): string => `The release server sent no valid ${name}.`

/**
 * `berth upgrade [channel]`: installs the newest version of a channel. The checksum and the
 * signature of the download are verified, and the new binary must serve an empty data folder. Then
 * it replaces this one, which stays beside it with the ending `.previous`. RESTART_COMMAND restarts
 * the server. If that is not ready, the previous binary comes back and is restarted.
 */
export async function upgrade(
  config: Config,
  [channel = 'stable', ...more]: string[],
  own: Installed = installed,
): Promise<CommandResult> {
  if (!/^[a-z]{1,20}$/.test(channel) || more.length > 0) {
    return failed('usage: berth upgrade [channel], such as stable')
  }
  if (own.target === undefined) return failed('Only the binary can be upgraded. Pull the source.')
  if (config.releasesKey === '') {
    return failed('Set RELEASES_KEY to the public key of the releases. Nothing was changed.')
  }
  const next = `${own.path}.new`
  try {
    const offered = await offeredVersion(config, channel)
    if (!isNewer(offered, own.version)) {
      const text = `Berth ${own.version} is the newest version of ${channel}.`
      return succeeded(text, { version: own.version, upgraded: false })
    }
    writeFileSync(next, await download(config, offered, own.target))
    chmodSync(next, 0o755)
    await tryStart(next, offered, own.readyMs)
    return await replace(config, own, next, offered)
  } catch (error) {
    rmSync(next, { force: true })
    return failed(`${endWithStop(messageOf(error))} Berth ${own.version} stays in use.`)
  }
}

async function offeredVersion(config: Config, channel: string): Promise<string> {
  const offered = String(await fetchFile(`${config.releasesUrl}/${channel}`, listBytesMax)).trim()
  if (!/^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(offered)) throw new Error(expected('version'))
  return offered
}

/** Compares versions by number, so that no channel offers an older one again. */
function isNewer(offered: string, current: string): boolean {
  const [a, b] = [offered, current].map((text) => text.split('.').map(Number))
  const at = (a ?? []).findIndex((part, index) => part !== b?.[index])
  return at >= 0 && (a?.[at] ?? 0) > (b?.[at] ?? 0)
}

/** Returns the binary of a version after its signature and checksum were verified. */
async function download(config: Config, offered: string, own: string): Promise<Uint8Array> {
  const folder = `${config.releasesUrl}/${offered}`
  const sums = await fetchFile(`${folder}/SHA256SUMS`, listBytesMax)
  const signature = String(await fetchFile(`${folder}/SHA256SUMS.sig`, listBytesMax))
  const raw = Buffer.from(config.releasesKey, 'base64')
  const key = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
  const bytes = Buffer.from(signature, 'base64')
  if (!(await crypto.subtle.verify('Ed25519', key, bytes, sums))) {
    throw new Error(`The signature of ${offered} is not of RELEASES_KEY.`)
  }
  // The name has the version, so that a signed list cannot be served for another version.
  const name = `berth-${offered}-${own}.gz`
  const line = String(sums)
    .split('\n')
    .find((one) => one.endsWith(`  ${name}`))
  if (line === undefined) throw new Error(`Version ${offered} has no binary for ${own}.`)
  const packed = await fetchFile(`${folder}/${name}`, binaryBytesMax, downloadMs)
  if (!line.startsWith(sha256(packed))) throw new Error(`The checksum of ${name} is wrong.`)
  return Bun.gunzipSync(packed)
}

async function fetchFile(url: string, bytesMax: number, ms = listMs): Promise<Buffer<ArrayBuffer>> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ms) }).catch(() => undefined)
  if (!response?.ok) {
    throw new Error(`${url} could not be downloaded${response ? `: ${response.status}` : ''}.`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new Error(`${url} has more than ${bytesMax} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Starts a binary with an empty data folder. Throws unless it becomes ready. */
async function tryStart(program: string, offered: string, waitMs: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-upgrade-'))
  const child = Bun.spawn([program, 'serve', '--json', '--port', '0', '--data', folder], {
    cwd: folder,
    env: { HOME: folder },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: waitMs,
  })
  try {
    const origin = await readOrigin(child.stdout)
    if (origin === undefined || !(await isReady(origin, waitMs))) {
      throw new Error(`Version ${offered} does not start on this machine.`)
    }
  } finally {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the address in the line that `serve --json` prints. */
async function readOrigin(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('\n') || text.length > listBytesMax) break
  }
  return /"origin":"([^"]+)"/.exec(text)?.[1]
}

async function isReady(origin: string, waitMs: number): Promise<boolean> {
  for (const until = stopwatch() + waitMs; stopwatch() < until; await Bun.sleep(pollMs)) {
    const response = await fetch(`${origin}/readyz`, {
      signal: AbortSignal.timeout(5 * second),
      // The certificate is of the public name.
      tls: { rejectUnauthorized: false },
    }).catch(() => undefined)
    if (response?.ok) return true
  }
  return false
}

/** Puts the new binary in the place of this one, and restarts the server if a command is set. */
async function replace(
  config: Config,
  own: Installed,
  next: string,
  offered: string,
): Promise<CommandResult> {
  const previous = `${own.path}.previous`
  rmSync(previous, { force: true })
  linkSync(own.path, previous)
  // At each moment there is a whole binary at the path.
  renameSync(next, own.path)
  const done = `Installed Berth ${offered}. Version ${own.version} is kept as ${previous}.`
  const data = { version: offered, upgraded: true, previous }
  if (config.restartCommand === '') return succeeded(`${done} Restart the server to use it.`, data)
  const origin = localOrigin(config)
  if (restart(config) && (await isReady(origin, own.readyMs))) {
    return succeeded(`${done} The server was restarted and is ready.`, data)
  }
  renameSync(previous, own.path)
  const isBack = restart(config) && (await isReady(origin, own.readyMs))
  return failed(
    `Version ${offered} did not become ready at ${origin}. Version ${own.version} is back, and ` +
      (isBack ? 'the server is ready.' : 'the server is not ready either: read its log.'),
  )
}

/** Runs RESTART_COMMAND. Returns whether it succeeded. */
const restart = ({ restartCommand }: Config): boolean =>
  Bun.spawnSync(['sh', '-c', restartCommand], { stdin: 'ignore', stdout: 'ignore' }).exitCode === 0
