import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { unlimited } from '../../src/testing/fixtures/unlimited.ts'
import { fundedAccount } from './gateway/served.ts'
import { costUs, ratio, requestFor, runLoad, type Target, targetAt } from './load/load.ts'
import { type BenchServer, spawnServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'

const root = join(import.meta.dir, '../..')
const model = 'bench/claude'

const tableOf = (port: number): string => `
[[upstream]]
name = "claude"
kind = "anthropic"
base_url = "http://127.0.0.1:${port}/v1"
api_key = "k"

[[model]]
id = "${model}"
upstream = "claude"
type = "chat"
context_length = 200000
max_output = 4096
price = { prompt = "0.000001", completion = "0.000005" }
`

/** Compares /v1/messages at an upstream of Anthropic with the same call through chat. */
export async function bench(): Promise<BenchRow[]> {
  const peer = join(import.meta.dir, 'peers/claude.ts')
  const upstream = await spawnServer([process.execPath, peer])
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  writeFileSync(join(dataDir, 'berth.toml'), tableOf(upstream.port))
  const env = { ...unlimited, OLLAMA_HOST: 'off', PORT: '0', DATA_DIR: dataDir }
  const command = [process.execPath, join(root, 'src/main.ts')]
  const server = await spawnServer([...command, 'serve', '--json'], env)
  const { key } = await fundedAccount(server.port, dataDir, command)
  const targets = [
    messageAt(server, '/v1/messages', key),
    messageAt(server, '/v1/chat/completions', key),
  ]
  for (const target of targets) {
    await runLoad({ targets: [target], connections: 16, turnMs: 4_000, rounds: 1 })
  }
  const [messages = [], chat = []] = await runLoad({
    targets,
    connections: 16,
    turnMs: 600,
    rounds: 9,
  })
  await server.stop()
  await upstream.stop()
  rmSync(dataDir, { recursive: true })
  const costs = `${costUs(messages).toFixed(0)} us of CPU vs. ${costUs(chat).toFixed(0)} us`
  return [
    atMost(
      `/v1/messages at Anthropic, vs. the same call through chat (${costs})`,
      1 / ratio(messages, chat),
      1.2,
    ),
  ]
}

const content = 'Say something about harbors, boats and the people who wait for them. '.repeat(6)

/** Both APIs take the same body here. */
function messageAt(server: BenchServer, path: string, key: string): Target {
  const body = { model, max_tokens: 1_000, messages: [{ role: 'user', content }] }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  return targetAt(server, requestFor(path, headers, JSON.stringify(body)))
}
