import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { unlimited } from '../fixtures/unlimited.ts'

/** The executable of ./scripts/build. */
export const binaryPath = join(import.meta.dir, '../../../dist/berth')

/** Options of a process. */
export interface StartOptions {
  /** A command in front of it: ["setpriv", ...]. */
  under?: string[]
  /** The program instead of the binary. */
  program?: string[]
  /** More words of the command: hosts. */
  more?: string[]
  /** The port; by default any free one. */
  port?: number
  /** The time after which a forgotten process is ended. */
  lifeMs?: number
  env?: Record<string, string>
}

/** Exit code and output of a command. */
export interface CommandResult {
  code: number
  out: string
  err: string
}

/** Runs a command of the binary to its end. It inherits no environment variable except PATH. */
export async function runBerth(words: string[], start: StartOptions = {}): Promise<CommandResult> {
  const { under = [], program = [binaryPath], env = {}, lifeMs = 60_000 } = start
  const child = Bun.spawn([...under, ...program, ...words], {
    cwd: '/',
    env: { PATH: Bun.env.PATH, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: lifeMs,
  })
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { code, out, err }
}

/** A server in a process of its own, over HTTP. Its log is a file beside the data folder. */
export interface ServerProcess {
  origin: string
  pid: number
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
  /** The exit code. */
  exited: Promise<number>
  call(method: string, path: string, key?: string, body?: unknown): Promise<Response>
  /** The one-time link of a server without an operator. */
  operatorUrl: string | undefined
  /** Creates an agent and returns its key. */
  newKey(): Promise<string>
}

/**
 * Compiles no optimized code: most servers of tests end before it pays. A start, ten publishes and
 * a stop take a quarter less CPU time.
 */
const lessCompilation = { BUN_JSC_useDFGJIT: '0' }

/** Serves a data folder without rate limits on a free port until it is killed. */
export async function startServerProcess(
  dataDir: string,
  start: StartOptions = {},
): Promise<ServerProcess> {
  const { under = [], program = [binaryPath], more = [], env = {} } = start
  const { lifeMs = 120_000, port = 0 } = start
  const log = openSync(logOf(dataDir), 'a')
  const words = ['serve', '--json', '--port', String(port), '--data', dataDir, ...more]
  const child = Bun.spawn([...under, ...program, ...words], {
    env: { PATH: Bun.env.PATH, BUILDER_BROWSER: 'off', ...lessCompilation, ...unlimited, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: log,
    timeout: lifeMs,
  })
  closeSync(log)
  const ready = await firstLine(child.stdout)
  if (!ready) {
    throw new Error(
      `The server did not start:\n${readFileSync(logOf(dataDir), 'utf8').slice(-2_000)}`,
    )
  }
  const readyMessage: { operatorUrl?: string } = JSON.parse(ready)
  const origin = textAt(readyMessage, 'origin')
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
    operatorUrl: readyMessage.operatorUrl,
    pid: child.pid,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
    call,
    newKey: async () => textAt(await (await call('POST', '/api/keys')).json(), 'key'),
  }
}

/** On the disk of the data folder, as on a machine with one disk. */
const logOf = (dataDir: string): string => `${dataDir}.log`

const jsonType = 'application/json'

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let buffered = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream.values({ preventCancel: true })) {
    buffered += decoder.decode(chunk, { stream: true })
    if (buffered.includes('\n')) break
  }
  return buffered
}

/** Resident memory of a process in KiB. */
export const rssKib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** Throws an Error with this message if the condition is false. */
export function expect(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new Error(what)
}

/** Returns the text at a path of a JSON value ("app.id"). Throws if it is missing. */
export function textAt(value: unknown, path: string): string {
  let inner = value
  for (const name of path.split('.')) inner = Reflect.get(Object(inner), name)
  if (typeof inner === 'string') return inner
  throw new Error(`there is no ${path} in ${JSON.stringify(value).slice(0, 300)}`)
}
