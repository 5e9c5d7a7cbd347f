import { setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'

import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { readProcessBytes, withTempFolder } from '../../store/data-files.ts'

/** Handles an event of a session, such as "Fetch.requestPaused". */
export type EventHandler = (method: string, params: Json, session: string) => void

/** The browser rejects a command. */
export class DevtoolsError extends Error {}

const ended = (): Unchecked => new Unchecked('the browser has ended')

const messageCharsMax = 64 * 1_048_576

/** A client of the Chrome DevTools Protocol over a pipe: JSON messages that end in a zero byte. */
class Devtools {
  private readonly waiting = new Map<number, PromiseWithResolvers<Json> & { session: string }>()
  private readonly handlers = new Map<string, EventHandler>()
  private readonly closing = new AbortController()
  private count = 0
  private text = ''

  constructor(
    private readonly out: Writable,
    come: Readable,
  ) {
    const decoder = new TextDecoder()
    come.on('data', (chunk: Uint8Array) => this.read(decoder.decode(chunk, { stream: true })))
    come.on('close', () => this.close())
    for (const end of [out, come]) end.on('error', () => this.close())
  }

  /** Aborts when the pipe has closed. */
  get closed(): AbortSignal {
    return this.closing.signal
  }

  /** Passes the events of a session to a handler. */
  listen(session: string, handler: EventHandler): void {
    this.handlers.set(session, handler)
  }

  /** Ends what `listen` began. */
  ignore(session: string): void {
    this.handlers.delete(session)
  }

  /** Sends a command to a session, or to the browser. Rejects with DevtoolsError and Unchecked. */
  async send(method: string, params: Json = {}, session = ''): Promise<Json> {
    if (this.closed.aborted) throw ended()
    const id = (this.count += 1)
    const response = Promise.withResolvers<Json>()
    this.waiting.set(id, { ...response, session })
    const message = { id, method, params, ...(session && { sessionId: session }) }
    this.out.write(`${JSON.stringify(message)}\0`)
    return response.promise
  }

  /** Rejects all commands from now on. */
  close(): void {
    this.closing.abort()
    for (const { reject } of this.waiting.values()) reject(ended())
    this.waiting.clear()
  }

  /** Rejects the commands of a session that has ended: Chromium does not answer them. */
  private end(session: unknown): void {
    for (const [id, command] of this.waiting) {
      if (command.session !== session) continue
      this.waiting.delete(id)
      command.reject(new DevtoolsError('the session has ended'))
    }
  }

  private read(chunk: string): void {
    const parts = (this.text + chunk).split('\0')
    this.text = parts.pop() ?? ''
    if (this.text.length > messageCharsMax) return this.close()
    try {
      for (const part of parts) this.dispatch(JSON.parse(part))
    } catch {
      // Malformed JSON: close the pipe. There is no caller to throw to.
      this.close()
    }
  }

  private dispatch(message: unknown): void {
    if (!isRecord(message)) return
    const { id, method, params, result, error, sessionId } = message
    if (typeof method === 'string') {
      if (method === 'Target.detachedFromTarget') this.end(recordOf(params).sessionId)
      const session = String(sessionId ?? '')
      return this.handlers.get(session)?.(method, recordOf(params), session)
    }
    const response = this.waiting.get(Number(id))
    this.waiting.delete(Number(id))
    if (isRecord(error)) response?.reject(new DevtoolsError(String(error.message)))
    else response?.resolve(recordOf(result))
  }
}

/** The page itself prevents its check. The message tells its maker how. */
export class PageError extends Error {}

export const unresponsive =
  'The page does not respond: it has an endless loop, or does too much work at once.'
export const tooLarge =
  'The page uses more than 1 GB of memory. Create fewer objects, and draw on smaller canvases.'

export const crashing =
  'The page crashes, most likely because it uses too much memory. ' +
  'Create fewer objects, and draw on smaller canvases.'

/** Something else prevents the check, such as a busy machine. Nothing is known about the page. */
export class Unchecked extends Error {}

/** Returns "ReferenceError: x is not defined (line 12 of its script)" for an exception. */
export function exceptionMessage({ text, exception, lineNumber }: Json): string {
  const description = isRecord(exception) ? exception.description : undefined
  const [first = ''] = String(description ?? text).split('\n')
  const line = typeof lineNumber === 'number' ? ` (line ${lineNumber + 1} of its script)` : ''
  return `The page throws an error when it opens: ${first.slice(0, 300)}${line}`
}

/** Memory of one process, after which it is killed. A page of the largest size needs a third. */
const bytesMax = 1_073_741_824

/** Processes that run a page. */
export class PageProcesses {
  private readonly cpu = new Map<number, number>()
  /** Memory of the largest process. */
  bytes = 0
  /** CPU time of all processes. */
  get cpuSeconds(): number {
    return [...this.cpu.values()].reduce((sum, seconds) => sum + seconds, 0)
  }

  record(pid: number, cpuSeconds: number, bytes: number): void {
    this.cpu.set(pid, cpuSeconds)
    this.bytes = Math.max(this.bytes, bytes)
  }
}

/**
 * The processes of a browser, by page. Chromium does not say which process runs which page, so
 * pages open one after the other, and a new process belongs to the page that opened last.
 */
class Renderers {
  private readonly owners = new Map<number, PageProcesses>()
  private newest = new PageProcesses()
  private opened: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly devtools: Devtools,
    private readonly kill: (pid: number | undefined) => void,
  ) {}

  /** Runs `open`, which starts the processes of a page. */
  async open(page: PageProcesses, open: () => Promise<void>): Promise<void> {
    const turn = this.opened.then(async () => {
      await this.measure()
      this.newest = page
      await open()
      await this.measure()
    })
    this.opened = turn.catch(() => {})
    return turn
  }

  /** Measures all processes, and kills those that use too much memory. */
  async measure(): Promise<void> {
    const { processInfo } = await this.devtools.send('SystemInfo.getProcessInfo')
    for (const one of Array.isArray(processInfo) ? processInfo : []) {
      if (!isRecord(one)) continue
      const [pid, bytes] = [Number(one.id), await readProcessBytes(Number(one.id))]
      if (one.type === 'renderer') {
        const owner = this.owners.get(pid) ?? this.newest
        this.owners.set(pid, owner)
        owner.record(pid, Number(one.cpuTime), bytes)
      }
      // The other processes serve all pages, so the browser ends with them.
      if (bytes > bytesMax) this.kill(one.type === 'renderer' ? pid : undefined)
    }
  }
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Finds Chromium on this machine. Returns undefined when there is none, or previews are off. */
export function findChromium(setting: string): string | undefined {
  if (setting === 'off') return undefined
  if (setting !== 'auto') return setting
  return names.flatMap((name) => Bun.which(name) ?? [])[0]
}

/**
 * Flags that disable the network: no host name resolves, and connections go to a closed proxy port.
 * The DevTools pipe serves everything that a page loads.
 */
const flags = [
  '--headless',
  '--remote-debugging-pipe',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-sync',
  '--disable-component-update',
  '--disable-extensions',
  // A page of a window costs more than the page to check: its start page and its address bar.
  '--no-startup-window',
  '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
  '--disable-dev-shm-usage',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--site-per-process',
  '--disable-renderer-backgrounding',
  '--disable-background-timer-throttling',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--js-flags=--max-old-space-size=512',
  '--mute-audio',
  '--hide-scrollbars',
]

/** Requests to the server take priority over the browser. */
const niceness = 10

/** Path of the browser, and the data folder of the server that uses it. */
interface BrowserLocation {
  path: string
  dataDir: string
}

/** A running browser. */
export interface Chromium {
  devtools: Devtools
  renderers: Renderers
  /** Resolves when the browser has ended and its profile is removed. */
  ended: Promise<void>
  kill(): void
}

/**
 * Starts a browser with a new profile and no environment variables. It ends with this process,
 * because Chromium exits when its pipe closes. Throws when it cannot start.
 */
async function startChromium({ path, dataDir }: BrowserLocation): Promise<Chromium> {
  const { promise, resolve, reject } = Promise.withResolvers<Omit<Chromium, 'ended'>>()
  // The start of the server does not load them.
  const { spawn } = await import('node:child_process')
  const { Readable, Writable } = await import('node:stream')
  const ended = withTempFolder(dataDir, async (folder) => {
    // Chromium's own sandbox does not work as root.
    const own = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    const child = spawn(path, [...flags, ...own, `--user-data-dir=${folder}`], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: { HOME: folder, TMPDIR: folder, PATH: '/usr/bin:/bin' },
      detached: true,
    })
    child.once('error', reject)
    const [, , , out, come] = child.stdio
    // A failed spawn has no pipe; its `error` event gives the reason.
    if (child.pid === undefined || !(out instanceof Writable) || !(come instanceof Readable)) return
    const group = -child.pid
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    setPriority(child.pid, niceness)
    // Kill the process group: renderers are separate processes.
    const devtools = new Devtools(out, come)
    const kill = (): void => stop(group)
    const renderers = new Renderers(devtools, (pid = group) => stop(pid))
    devtools.closed.addEventListener('abort', kill)
    resolve({ devtools, renderers, kill })
    await exited
    kill()
  })
  ended.catch(reject)
  const browser = await promise
  return { ...browser, ended: ended.catch(() => {}) }
}

/** Ends a process, or a group of them by its negative number. */
function stop(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Keeps one browser for all pages. It starts with the first page, and ends when it is idle. */
export class WarmBrowser {
  private running: Promise<Chromium> | undefined
  private ended: Promise<void> = Promise.resolve()
  private pages = 0
  private idle: ReturnType<typeof setTimeout> | undefined
  private isClosed = false

  constructor(
    private readonly location: BrowserLocation,
    private readonly idleMs: number,
  ) {}

  /** Runs `work` with the browser. Throws when it cannot start. */
  async use<Result>(work: (browser: Chromium) => Promise<Result>): Promise<Result> {
    if (this.isClosed) throw new Error('the server stops')
    clearTimeout(this.idle)
    this.pages += 1
    try {
      this.running ??= this.start()
      return await work(await this.running)
    } finally {
      this.pages -= 1
      if (this.pages === 0) this.idle = setTimeout(() => void this.stop(), this.idleMs).unref()
    }
  }

  /** Ends the browser for good. */
  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.idle)
    await this.stop()
  }

  /** Ends the browser. The next page starts another one. */
  private async stop(): Promise<void> {
    const browser = await this.running?.catch(() => undefined)
    browser?.kill()
    await this.ended
  }

  private async start(): Promise<Chromium> {
    try {
      // The profile of the browser before is removed first.
      await this.ended
      const browser = await startChromium(this.location)
      this.ended = browser.ended
      const forget = (): void => void (this.running = undefined)
      if (browser.devtools.closed.aborted) forget()
      else browser.devtools.closed.addEventListener('abort', forget)
      return browser
    } catch (error) {
      this.running = undefined
      throw error
    }
  }
}
