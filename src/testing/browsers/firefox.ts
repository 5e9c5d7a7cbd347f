import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type Browser, handsOf, localName, receivedBy, recorder, type Tab } from './browser.ts'
import { endingWithProcess } from './lender.ts'

/** Settings against work of Firefox's own, which takes a third of the time of its start. */
const preferences = {
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'browser.download.alwaysOpenPanel': false,
  'browser.newtabpage.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.search.update': false,
  'browser.sessionstore.resume_from_crash': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.tabs.warnOnClose': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.disable_open_during_load': false,
  'dom.ipc.processCount': 4,
  'dom.ipc.processPrelaunch.enabled': false,
  'extensions.enabledScopes': 0,
  'extensions.update.enabled': false,
  'media.peerconnection.ice.loopback': true,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.dns.disablePrefetch': false,
  'network.dns.localDomains': localName,
  'services.settings.server': 'http://127.0.0.1:9',
}
const startMs = 60_000
const commandMs = 60_000
const endMs = 5_000

type Wire = Record<string, unknown>

/** Returns a nested field of a response: `at(response, 'result', 'value')`. */
const at = (data: unknown, ...names: (string | number)[]): unknown =>
  names.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined,
    data,
  )

/** A WebDriver BiDi session. */
class Session {
  readonly #waiting = new Map<number, (response: Wire) => void>()
  #last = 0

  constructor(
    readonly socket: WebSocket,
    readonly onEvent: (method: string, params: unknown) => void,
  ) {
    socket.onmessage = ({ data }) => {
      const response: Wire = JSON.parse(String(data))
      if (typeof response['id'] === 'number') this.#waiting.get(response['id'])?.(response)
      else onEvent(String(response['method']), response['params'])
    }
  }

  async send(method: string, params: Wire): Promise<unknown> {
    const id = (this.#last += 1)
    const response = await new Promise<Wire>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} took too long`)), commandMs)
      this.#waiting.set(id, (came) => {
        clearTimeout(timer)
        resolve(came)
      })
      this.socket.send(JSON.stringify({ id, method, params }))
    })
    this.#waiting.delete(id)
    if (response['type'] === 'error') throw new Error(`${method}: ${String(response['message'])}`)
    return response['result']
  }
}

/** Reads Firefox's output until it prints the address of the BiDi socket. */
async function addressIn(lines: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of lines) {
    text += decoder.decode(chunk, { stream: true })
    const found = /WebDriver BiDi listening on (ws:\S+)/.exec(text)?.[1]
    if (found !== undefined) return found
  }
  throw new Error(`firefox did not start: ${text}`)
}

/** Starts Firefox with a fresh profile and a log of its resolver. */
export async function openFirefox(path: string, more: object = {}): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), 'firefox-'))
  const lines = Object.entries({ ...preferences, ...more }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  )
  await Bun.write(join(folder, 'profile', 'user.js'), lines.join('\n'))
  const options = ['--headless', '--no-remote', '--remote-debugging-port', '0']
  const command = [path, ...options, '--profile', join(folder, 'profile'), 'about:blank']
  const child = Bun.spawn(endingWithProcess(command), {
    stdout: 'ignore',
    stderr: 'pipe',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      MOZ_LOG: 'nsHostResolver:5',
      MOZ_LOG_FILE: join(folder, 'resolver'),
    },
  })
  const timer = setTimeout(() => child.kill(), startMs)
  const address = await addressIn(child.stderr)
  clearTimeout(timer)
  const socket = new WebSocket(`${address}/session`)
  await new Promise((resolve) => (socket.onopen = resolve))
  const seen = new Map<string, string[]>()
  const session = new Session(socket, (method, params) =>
    seen.get(String(at(params, 'context')))?.push(method.replace(/^.*\./, '')),
  )
  await session.send('session.new', {
    capabilities: {
      alwaysMatch: { acceptInsecureCerts: true, unhandledPromptBehavior: { default: 'dismiss' } },
    },
  })
  const events = ['userPromptOpened', 'downloadWillBegin'].map((name) => `browsingContext.${name}`)
  await session.send('session.subscribe', { events })
  await session.send('script.addPreloadScript', { functionDeclaration: `() => { ${recorder} }` })
  return {
    name: 'firefox',
    open: async (tab = 'shown') => {
      const made = await session.send('browsingContext.create', { type: 'tab', background: true })
      const context = String(at(made, 'context'))
      const shown = { functionDeclaration: alwaysShown, contexts: [context] }
      if (tab === 'shown') await session.send('script.addPreloadScript', shown)
      return tabOf(session, context, seen)
    },
    async close() {
      child.kill()
      const hard = setTimeout(() => child.kill('SIGKILL'), endMs)
      await child.exited
      clearTimeout(hard)
    },
    async lookups() {
      const names = (await readdir(folder)).filter((name) => name.startsWith('resolver'))
      const logs = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
      await rm(folder, { recursive: true, force: true })
      return logs.join('\n')
    },
  }
}

/**
 * Only one tab is in front. All report that they are visible, because tests drive them in
 * parallel.
 */
const alwaysShown = "() => { Object.defineProperty(document, 'hidden', { get: () => false }) }"

function tabOf(session: Session, context: string, seen: Map<string, string[]>): Tab {
  const mine: string[] = []
  seen.set(context, mine)
  const act = async (source: object): Promise<unknown> => {
    await session.send('browsingContext.activate', { context })
    return session.send('input.performActions', { context, actions: [source] })
  }
  const evaluate = async (expression: string): Promise<unknown> => {
    const text = `(async () => JSON.stringify(await (${expression})))()`
    const response = await session.send('script.evaluate', {
      expression: text,
      target: { context },
      awaitPromise: true,
    })
    const value = at(response, 'result', 'value')
    if (at(response, 'type') !== 'success') throw new Error(JSON.stringify(response))
    return typeof value === 'string' ? JSON.parse(value) : undefined
  }
  const navigate = (url: string) =>
    session.send('browsingContext.navigate', { context, url, wait: 'none' })
  return {
    goto: async (url) => {
      // A page that reloads itself at this moment aborts the first navigation, but not a second.
      await navigate(url).catch((error: unknown) => {
        if (!String(error).includes('NS_BINDING_ABORTED')) throw error
        return navigate(url)
      })
    },
    evaluate,
    received: () => receivedBy(evaluate),
    ...handsOf(act),
    async screenshot(path) {
      const shot = await session.send('browsingContext.captureScreenshot', { context })
      await Bun.write(path, Buffer.from(String(at(shot, 'data')), 'base64'))
    },
    seen: () => mine,
    async close() {
      seen.delete(context)
      await session.send('browsingContext.close', { context })
    },
  }
}
