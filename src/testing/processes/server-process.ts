import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { unlimited } from '../fixtures/unlimited.ts'

/** The executable that ./scripts/build wrote. */
export const binaryPath = join(import.meta.dir, '../../../dist/berth')

/** How a process of the product is started. */
export interface StartOptions {
  /** A command in front of it: ["setpriv", ...]. */
  under?: string[]
  env?: Record<string, string>
}

/** What a command of the product said, and its exit code. */
export interface CommandResult {
  code: number
  out: string
  err: string
}

/** Runs a command of the product to its end. Nothing of this environment but PATH reaches it. */
export async function runBerth(words: string[], start: StartOptions = {}): Promise<CommandResult> {
  const { under = [], env = {} } = start
  const child = Bun.spawn([...under, binaryPath, ...words], {
    cwd: '/',
    env: { PATH: Bun.env.PATH, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 60_000,
  })
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { code, out, err }
}

/** A house in a process of its own, over HTTP. Its log is a file beside the data folder. */
export interface ServerProcess {
  origin: string
  pid: number
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
  /** The exit code. */
  exited: Promise<number>
  call(method: string, path: string, key?: string, body?: unknown): Promise<Response>
  /** The one-time link of a house without an operator. */
  operatorUrl: string | undefined
  /** A new agent's key. */
  newKey(): Promise<string>
}

/** Serves a data folder without limits of rate on a free port, until it is killed. */
export async function startServerProcess(
  dataDir: string,
  start: StartOptions = {},
): Promise<ServerProcess> {
  const { under = [], env = {} } = start
  const log = openSync(logOf(dataDir), 'a')
  const words = ['serve', '--json', '--port', '0', '--data', dataDir]
  const child = Bun.spawn([...under, binaryPath, ...words], {
    env: { PATH: Bun.env.PATH, BUILDER_BROWSER: 'off', ...unlimited, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: log,
    timeout: 120_000,
  })
  closeSync(log)
  const ready = await firstLine(child.stdout)
  if (!ready) {
    throw new Error(`it did not start:\n${readFileSync(logOf(dataDir), 'utf8').slice(-2_000)}`)
  }
  const told: { operatorUrl?: string } = JSON.parse(ready)
  const origin = textAt(told, 'origin')
  const call: ServerProcess['call'] = (method, path, key, body) =>
    fetch(origin + path, {
      method,
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        'content-type': body instanceof Uint8Array ? 'application/octet-stream' : jsonType,
      },
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? new Blob([new Uint8Array(body)]) : JSON.stringify(body),
      }),
    })
  return {
    origin,
    operatorUrl: told.operatorUrl,
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
    call,
    newKey: async () => textAt(await (await call('POST', '/api/keys')).json(), 'key'),
  }
}

/** On the same disk as the data, as where one disk is all there is. */
const logOf = (dataDir: string): string => `${dataDir}.log`

const jsonType = 'application/json'

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let said = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream.values({ preventCancel: true })) {
    said += decoder.decode(chunk, { stream: true })
    if (said.includes('\n')) break
  }
  return said
}

/** The resident memory of a process. */
export const rssKib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** Throws an Error that says what is not so. */
export function expect(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new Error(what)
}

/** The text at a path of a JSON value, "app.id"; throws where there is none. */
export function textAt(value: unknown, path: string): string {
  let inner = value
  for (const name of path.split('.')) inner = Reflect.get(Object(inner), name)
  if (typeof inner === 'string') return inner
  throw new Error(`there is no ${path} in ${JSON.stringify(value).slice(0, 300)}`)
}
