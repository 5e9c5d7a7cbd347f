import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { runningPerKey } from '../../kernel/limits.ts'
import { scripts } from '../fakes/chat-scripts.ts'
import { type FakeUpstream, startFakeUpstream } from '../fakes/upstream.ts'
import { fakeModelsToml } from '../fixtures/fake-models.ts'
import {
  rssKib,
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from './server-process.ts'

/** Measurements while all streams are open. */
export interface StreamStats {
  /** Requests that the upstream has open, each on its own socket. */
  sockets: number
  /** Streams that end with [DONE]. */
  done: number
  /** Resident memory of the server in MB, while all streams are open and before the first. */
  rssMb: number
  idleMb: number
  /** Amount that the account still holds, in USD. */
  held: number
}

const model = 'fake/live'
const body = JSON.stringify({
  model,
  stream: true,
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hello.' }],
})

/**
 * Serves `dataDir` in front of a fake upstream and opens `count` streams. None ends before all of
 * them are open.
 */
export async function openManyStreams(dataDir: string, count: number): Promise<StreamStats> {
  const fake = startFakeUpstream()
  const gate = Promise.withResolvers<void>()
  const [head, ...rest] = scripts.ok?.stream ?? []
  const [word, ...more] = rest
  if (!head || !word) throw new Error('The script of the stream is missing.')
  fake.script(model, [head, word, { until: gate.promise }, ...more])
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'berth.toml'), fakeModelsToml(fake.baseUrl, ['live']))
  const env = { OLLAMA_HOST: 'off' }
  const ctx = await startServerProcess(dataDir, { env })
  try {
    const keys = await keysFor(ctx, dataDir, count)
    const idleMb = rssOf(ctx)
    const clients = Array.from({ length: count }, (_, at) =>
      openClient(ctx.origin, keys[at % keys.length] ?? ''),
    )
    await Promise.all(clients.map(({ began }) => began))
    const seen = { sockets: openAt(fake), rssMb: rssOf(ctx), idleMb }
    gate.resolve()
    const ends = await Promise.all(clients.map(({ ended }) => ended))
    const done = ends.filter((text) => text.includes('data: [DONE]')).length
    const response = await ctx.call('POST', '/credits/balance', keys[0])
    const held: unknown = Reflect.get(Object(await response.json()), 'held')
    return { ...seen, done, held: Number(held) }
  } finally {
    ctx.kill('SIGTERM')
    await ctx.exited
    fake.close()
  }
}

const openAt = ({ received }: FakeUpstream): number => received.filter(({ left }) => !left).length

/** Returns enough keys of one funded account. */
async function keysFor(ctx: ServerProcess, dataDir: string, streams: number): Promise<string[]> {
  const account: unknown = await (await ctx.call('POST', '/accounts/create')).json()
  const [creditId, first] = [textAt(account, 'credit_id'), textAt(account, 'api_key')]
  const { code, err } = await runBerth(['grant', creditId, '100', '--data', dataDir])
  if (code !== 0) throw new Error(err)
  const keys = [first]
  while (keys.length * runningPerKey < streams) {
    const made: unknown = await (await ctx.call('POST', '/accounts/keys', first, {})).json()
    keys.push(textAt(made, 'api_key'))
  }
  return keys
}

const rssOf = ({ pid }: ServerProcess): number => rssKib(pid) / 1_024

/** Opens a stream on its own socket, because Bun's `fetch` limits parallel connections. */
function openClient(origin: string, key: string) {
  const began = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  const { hostname, port } = new URL(origin)
  let text = ''
  const request = `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${key}\r
content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`
  const fail = (error: Error): void => (began.reject(error), ended.reject(error))
  Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(request),
      data(_, chunk) {
        text += chunk.toString()
        if (text.includes('\ndata: ')) began.resolve()
        else if (text.startsWith('HTTP/1.1 ') && !text.startsWith('HTTP/1.1 200')) {
          fail(new Error(text.slice(0, 1_000)))
        }
        if (text.endsWith('0\r\n\r\n')) ended.resolve(text)
      },
      close: () => ended.resolve(text),
      error: (_, error) => fail(error),
    },
  }).catch(fail)
  ended.promise.catch(() => undefined)
  return { began: began.promise, ended: ended.promise }
}
