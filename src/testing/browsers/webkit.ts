import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePort } from '../free-port.ts'
import {
  type Browser,
  browsers,
  findInBrowser,
  handsOf,
  receivedBy,
  type Tab,
  viewport,
} from './browser.ts'
import { endingWithProcess } from './lender.ts'

const [driverPath = '', screenPath = ''] = browsers.webkit.drivers ?? []
const startMs = 60_000
const loadMs = 20_000
const commandMs = 40_000

/** A WebDriver session (https://www.w3.org/TR/webdriver2/): one command at a time. */
class Session {
  #last: Promise<unknown> = Promise.resolve()
  #chosen = ''

  constructor(readonly url: string) {}

  async send(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(this.url + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(commandMs),
    })
    const { value }: { value: unknown } = JSON.parse(await response.text())
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`)
    return value
  }

  run(script: string, how: 'sync' | 'async' = 'sync'): Promise<unknown> {
    return this.send('POST', `/execute/${how}`, { script, args: [] })
  }

  /** Commands act on the selected window. Commands that belong together run in one turn. */
  inWindow<T>(handle: string, act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      // Selecting a window moves the keyboard focus out of its frame.
      if (this.#chosen !== handle) await this.send('POST', '/window', { handle })
      this.#chosen = handle
      return act()
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }
}

const field = (value: unknown, name: string): string =>
  String(typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined)

/** Starts a virtual display and returns its name. */
async function openScreen() {
  const size = ['-screen', '0', '1600x1200x24']
  const command = [screenPath, '-displayfd', '1', ...size, '-nolisten', 'tcp']
  const screen = Bun.spawn(endingWithProcess(command), {
    stdout: 'pipe',
    stderr: 'ignore',
  })
  let number = ''
  for await (const chunk of screen.stdout) {
    number += new TextDecoder().decode(chunk)
    if (number.endsWith('\n')) break
  }
  return { screen, name: `:${number.trim()}` }
}

/** Starts WebKitGTK's MiniBrowser through WebDriver, with its own display and home folder. */
export async function openWebkit(path: string): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), 'webkit-'))
  const { screen, name } = await openScreen()
  const port = freePort()
  const driver = Bun.spawn(endingWithProcess([driverPath, `--port=${port}`]), {
    stdout: 'ignore',
    stderr: 'ignore',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      DISPLAY: name,
      // Its sandbox needs namespaces, which root in a container does not have.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
      LIBGL_ALWAYS_SOFTWARE: '1',
      NO_AT_BRIDGE: '1',
      GSETTINGS_BACKEND: 'memory',
    },
  })
  const start = new Session(`http://127.0.0.1:${port}`)
  const isUp = () =>
    start.send('GET', '/status').then(
      () => true as const,
      () => undefined,
    )
  await findInBrowser(isUp, startMs)
  const alwaysMatch = {
    pageLoadStrategy: 'none',
    unhandledPromptBehavior: 'dismiss',
    'webkitgtk:browserOptions': { binary: path, args: ['--automation'] },
  }
  const made = await start.send('POST', '/session', { capabilities: { alwaysMatch } })
  const session = new Session(`${start.url}/session/${field(made, 'sessionId')}`)
  const home = String(await session.send('GET', '/window'))
  return {
    name: 'webkit',
    async open() {
      const window = await session.inWindow(home, () =>
        session.send('POST', '/window/new', { type: 'window' }),
      )
      const tab = tabOf(session, field(window, 'handle'))
      await fit(session, field(window, 'handle'))
      return tab
    },
    async close() {
      await session.send('DELETE', '').catch(() => undefined)
      for (const child of [driver, screen]) {
        child.kill()
        await child.exited
      }
      await rm(folder, { recursive: true, force: true })
    },
    // GLib resolves names below .localhost without a resolver.
    lookups: async () => '',
  }
}

/** Resizes a window until its page has the size of the viewport. */
const fit = (session: Session, handle: string): Promise<void> =>
  session.inWindow(handle, async () => {
    for (let [width, height] = [viewport.width, viewport.height], tries = 0; tries < 5; tries++) {
      await session.send('POST', '/window/rect', { width, height })
      await Bun.sleep(50)
      const inner = await session.run('return [innerWidth, innerHeight]')
      const [wide, high]: number[] = Array.isArray(inner) ? inner : []
      if (wide === viewport.width && high === viewport.height) return
      width += viewport.width - (wide ?? 0)
      height += viewport.height - (high ?? 0)
    }
  })

function tabOf(session: Session, handle: string): Tab {
  const act = (source: object): Promise<unknown> =>
    session.inWindow(handle, () => session.send('POST', '/actions', { actions: [source] }))
  const evaluate = (expression: string): Promise<unknown> =>
    session.inWindow(handle, async () => {
      const value = await session.run(
        `const [done] = arguments
         const ask = async () => JSON.stringify([await (${expression})])
         ask().then(done, (error) => done(String(error)))`,
        'async',
      )
      if (typeof value !== 'string' || !value.startsWith('[')) throw new Error(String(value))
      return JSON.parse(value)[0]
    })
  return {
    goto: (url) =>
      session.inWindow(handle, async () => {
        await session.run('self.left = true')
        await session.send('POST', '/url', { url })
        // The command returns before the page has changed.
        const isThere = () => session.run('return self.left !== true')
        await findInBrowser(
          () =>
            isThere()
              .then((is) => (is === true ? is : undefined))
              .catch(() => undefined),
          loadMs,
        )
      }),
    evaluate,
    received: () => receivedBy(evaluate),
    ...handsOf(act),
    async screenshot(path) {
      const shot = await session.inWindow(handle, () => session.send('GET', '/screenshot'))
      await Bun.write(path, Buffer.from(String(shot), 'base64'))
    },
    // The driver reports no dialogs, downloads or windows.
    seen: () => [],
    async close() {
      await session.inWindow(handle, () => session.send('DELETE', '/window'))
    },
  }
}
