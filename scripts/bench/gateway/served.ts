/** The compiled gateway, a bare pass-through and their upstream, each in its own process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { unlimited } from '../../../src/testing/fixtures/unlimited.ts'
import { requestFor, type Target, targetAt } from '../load/load.ts'
import { asRecord, type BenchServer, spawnServer } from '../load/served.ts'

const root = join(import.meta.dir, '../../..')
const binary = join(root, 'dist/berth')
const peer = (name: string): string => join(import.meta.dir, '../peers', name)

export interface ServedGateway {
  upstream: BenchServer
  pass: BenchServer
  ctx: BenchServer & { dataDir: string }
  /** Creates an account with credits and returns its key. */
  newAccount(): Promise<{ account: string; key: string }>
  /** Creates an account without credits and returns its key. */
  newEmptyAccount(): Promise<{ account: string; key: string }>
  stop(): Promise<void>
}

const tableOf = (port: number): string => `
[[upstream]]
name = "bench"
kind = "openai"
base_url = "http://127.0.0.1:${port}/v1"

[[model]]
id = "bench/model"
upstream = "bench"
type = "chat"
context_length = 32768
max_output = 4096
price = { prompt = "0.0000000375", completion = "0.00000015" }
`

const env = { ...unlimited, OLLAMA_HOST: 'off', PORT: '0' }

/** Bun's default is 256 parallel requests. */
const many = { BUN_CONFIG_MAX_HTTP_REQUESTS: '32000' }

/** Starts all three. `everyMs` is the time between two of the `chunks` of a stream. */
export async function serveGateway(
  everyMs = 2,
  settings: Record<string, string> = {},
  chunks = 200,
): Promise<ServedGateway> {
  const upstream = await spawnServer([
    process.execPath,
    peer('upstream.ts'),
    String(everyMs),
    String(chunks),
  ])
  const pass = await servePass(upstream)
  const { ctx, newAccount, stop } = await serveBinary(upstream, settings)
  return {
    upstream,
    pass,
    ctx,
    newAccount,
    newEmptyAccount: () => emptyAccount(ctx.port),
    stop: async () => {
      await Promise.all([stop(), pass.stop(), upstream.stop()])
    },
  }
}

/** Starts the pass-through in front of an upstream; with `read`, one that reads each response. */
export const servePass = ({ port }: BenchServer, ...mode: 'read'[]): Promise<BenchServer> =>
  spawnServer([process.execPath, peer('pass.ts'), String(port), ...mode], many)

/** Starts the gateway before an upstream. `prefix` is a command that starts it, such as taskset. */
export async function serveBinary(
  { port }: BenchServer,
  settings: Record<string, string> = {},
  prefix: string[] = [],
) {
  const built = Bun.spawnSync(['./scripts/build', '--if-needed'], { cwd: root, stderr: 'pipe' })
  if (built.exitCode !== 0) throw new Error(built.stderr.toString())
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  writeFileSync(join(dataDir, 'berth.toml'), tableOf(port))
  const ctx = await spawnServer([...prefix, binary, 'serve', '--json'], {
    ...env,
    ...settings,
    DATA_DIR: dataDir,
  })
  return {
    ctx: { ...ctx, dataDir },
    newAccount: () => fundedAccount(ctx.port, dataDir, [binary], settings),
    stop: async () => {
      await ctx.stop()
      rmSync(dataDir, { recursive: true })
    },
  }
}

/** Starts the minimal charging handler for one key in front of the same upstream. */
export const serveLeast = ({ port }: BenchServer, key: string): Promise<BenchServer> =>
  spawnServer([process.execPath, peer('least.ts'), String(port), key], many)

/** Creates an account and grants it credits with the command of the server. */
export async function fundedAccount(
  port: number,
  dataDir: string,
  command: string[],
  env: Record<string, string> = {},
) {
  const { account, key } = await emptyAccount(port)
  const creditId = account.slice('gateway:'.length)
  const grant = [...command, 'grant', creditId, '1000', '--data', dataDir]
  const { exitCode, stderr } = Bun.spawnSync(grant, {
    env: { PATH: Bun.env.PATH, ...env },
    stderr: 'pipe',
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return { account, key }
}

async function emptyAccount(port: number) {
  const made = await fetch(`http://127.0.0.1:${port}/accounts/create`, { method: 'POST' })
  const { credit_id, api_key } = asRecord(await made.json())
  return { account: `gateway:${String(credit_id)}`, key: String(api_key) }
}

const words = 'Say something about harbors, boats and the people who wait for them. '.repeat(6)

/** Returns a raw chat request to one of the servers. */
export function chatAt(server: BenchServer, key: string, stream: boolean): Target {
  const body = {
    model: 'bench/model',
    max_tokens: 1_000,
    stream,
    messages: [{ role: 'user', content: words }],
  }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  return targetAt(server, requestFor('/v1/chat/completions', headers, JSON.stringify(body)))
}
