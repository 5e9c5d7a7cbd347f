/** Other gateways, installed in a temporary folder: hundreds of MB that only a comparison needs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Target } from '../load/load.ts'
import type { BenchServer } from '../load/served.ts'
import { chatAt } from './served.ts'

export interface Peer {
  name: string
  /** Keys, records and budgets as it runs here. */
  mode: string
  files(upstream: string): Record<string, string>
  install: string[][]
  start(port: number): string[]
  env?: Record<string, string>
  /** Headers of each request. */
  headers(upstream: string): string
}

const server = { '@hono/node-server': '1.13.8' }
const masterKey = 'sk-bench'

export const peers: Peer[] = [
  {
    name: '@portkey-ai/gateway 1.15.2',
    mode: 'no key, record or budget',
    files: () => ({
      'package.json': JSON.stringify({
        private: true,
        dependencies: { '@portkey-ai/gateway': '1.15.2', ...server },
        overrides: server,
      }),
    }),
    install: [['npm', 'install', '--silent', '--no-audit', '--no-fund']],
    start: (port) => [
      'node',
      'node_modules/@portkey-ai/gateway/build/start-server.js',
      `--port=${port}`,
      '--headless',
    ],
    env: { TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
    headers: (upstream) => `x-portkey-provider: openai\r\nx-portkey-custom-host: ${upstream}\r\n`,
  },
  {
    name: 'LiteLLM 1.90.0',
    mode: 'one key; no record or budget, which need its database',
    files: (upstream) => ({
      'config.yaml': JSON.stringify({
        model_list: [
          {
            model_name: 'bench/model',
            litellm_params: { model: 'openai/bench', api_base: upstream, api_key: 'bench' },
          },
        ],
        general_settings: { master_key: masterKey },
      }),
    }),
    install: [
      ['python3', '-m', 'venv', '.'],
      // pip alone searches for minutes.
      ['bin/pip', 'install', '--quiet', 'uv==0.13.9'],
      ['bin/uv', 'pip', 'install', '--quiet', '--python', 'bin/python', 'litellm[proxy]==1.90.0'],
    ],
    start: (port) => ['bin/litellm', '--config', 'config.yaml', '--port', String(port)],
    headers: () => '',
  },
]

/** A running peer, and the chat that it serves. */
export interface ServedPeer {
  chat: Target
  stop(): Promise<void>
}

/** Installs and starts a peer. Returns undefined, with a line on stderr, where that fails. */
export async function servePeer(
  peer: Peer,
  { port }: BenchServer,
): Promise<ServedPeer | undefined> {
  const upstream = `http://127.0.0.1:${port}/v1`
  const dir = mkdtempSync(join(tmpdir(), 'berth-peer-'))
  const remove = (): void => rmSync(dir, { recursive: true })
  for (const [name, text] of Object.entries(peer.files(upstream))) {
    writeFileSync(join(dir, name), text)
  }
  const isInstalled = peer.install.every(
    (command) =>
      Bun.spawnSync(command, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] }).success,
  )
  const served = isInstalled ? await start(peer, dir) : undefined
  if (!served) {
    console.error(`${peer.name} cannot be installed or started here. Its row is skipped.`)
    remove()
    return undefined
  }
  const chat = chatAt(served, masterKey, false)
  const request = chat.request.replace('Host:', `${peer.headers(upstream)}Host:`)
  return {
    // The headers of LiteLLM have the time that each call took.
    chat: { ...chat, request, isVaried: true },
    stop: async () => {
      await served.stop()
      remove()
    },
  }
}

const triesMax = 600

async function start(peer: Peer, dir: string): Promise<BenchServer | undefined> {
  const free = Bun.serve({ port: 0, fetch: () => new Response() })
  const port = Number(free.port)
  await free.stop(true)
  const child = Bun.spawn(peer.start(port), {
    cwd: dir,
    env: { PATH: Bun.env.PATH, HOME: dir, ...peer.env },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const stop = async (): Promise<void> => {
    child.kill()
    await child.exited
  }
  const isUp = () => fetch(`http://127.0.0.1:${port}/`).then(Boolean, () => false)
  for (let tries = 0; tries < triesMax && child.exitCode === null; tries += 1) {
    if (await isUp()) return { port, readyLine: '', pid: child.pid, stop }
    await Bun.sleep(100)
  }
  await stop()
  return undefined
}
