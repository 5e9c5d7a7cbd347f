import { isBlankImage } from '../../kernel/image.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import { stopwatch } from '../../kernel/time.ts'
import {
  type Chromium,
  crashing,
  DevtoolsError,
  exceptionMessage,
  PageError,
  PageProcesses,
  tooLarge,
  Unchecked,
  unresponsive,
} from './chromium.ts'

export interface PixelSize {
  width: number
  height: number
}

/** Time of a check, and CPU time of a page without a frame. */
export interface PageLimits {
  totalMs: number
  hungMs: number
}

const measureMs = 250
const closeMs = 5_000
const framesOfTurn = 20
/** V8 ends a page at 512 MB. The measurement before has seen less. */
const largeBytes = 384 * 1_048_576

/** One page in a browser without network. `PreviewPage.respond` serves all its requests. */
export class PageSession {
  /** Messages of the exceptions that the page threw. */
  readonly exceptions = new Set<string>()
  readonly departures: Departures
  private readonly sessions = new Set<string>()
  private readonly processes = new PageProcesses()
  private readonly stopped = Promise.withResolvers<never>()
  private readonly frame: AppFrame
  private session = ''
  private isOpen = true

  constructor(
    private readonly browser: Chromium,
    private readonly page: PreviewPage,
    private readonly size: PixelSize,
    private readonly limits: PageLimits,
    private readonly isRepeated: boolean,
  ) {
    this.departures = new Departures(page.url)
    this.frame = new AppFrame(this.departures)
    this.stopped.promise.catch(() => {})
  }

  /**
   * Opens the page in a browser context of its own, and closes it after `work`. Throws PageError
   * and Unchecked.
   */
  async run<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const { devtools, renderers } = this.browser
    const abort = (): void => this.stopped.reject(signal.reason)
    signal.addEventListener('abort', abort)
    const deadline = setTimeout(() => this.stopped.reject(this.lateness()), this.limits.totalMs)
    const context = devtools.send('Target.createBrowserContext')
    try {
      void this.measure().catch(() => {})
      const { browserContextId } = await this.untilHung(context)
      const opening = renderers.open(this.processes, () => this.open(browserContextId))
      await this.untilHung(opening)
      await this.untilHung(this.frame.loaded)
      return await this.untilHung(work())
    } finally {
      this.isOpen = false
      clearTimeout(deadline)
      signal.removeEventListener('abort', abort)
      await this.close(context)
    }
  }

  /**
   * Lets the page run for `ms`, and for 20 frames or `ms` of its CPU time. A busy machine needs
   * longer for these, and the page is not judged before.
   */
  async turn(ms: number): Promise<void> {
    const slept = Bun.sleep(ms)
    const until = this.processes.cpuSeconds + ms / 1_000
    const expression = 'new Promise((done) => requestAnimationFrame(() => done()))'
    // The app may replace its own functions, but not those of an isolated world.
    const contextId = await this.untilHung(this.openWorld())
    for (let frames = 0; frames < framesOfTurn; frames += 1) {
      await this.untilHung(this.evaluate({ expression, awaitPromise: true, contextId }))
      if (this.processes.cpuSeconds > until) break
    }
    await slept
  }

  /** Runs a script in the app, and ignores its errors. */
  runInApp(expression: string): Promise<unknown> {
    return this.untilHung(this.evaluate({ expression, contextId: this.frame.context }))
  }

  /** Clicks at a position of the page. */
  async click(x: number, y: number): Promise<void> {
    const at = { x, y, button: 'left', clickCount: 1 }
    await this.send('Input.dispatchMouseEvent', { ...at, type: 'mousePressed' })
    await this.send('Input.dispatchMouseEvent', { ...at, type: 'mouseReleased' })
  }

  async key(type: 'keyDown' | 'keyUp', key: string, code: number): Promise<void> {
    const name = key === ' ' ? 'Space' : key
    const text = key === ' ' && type === 'keyDown' ? { text: ' ' } : {}
    const pressed = { type, key, code: name, windowsVirtualKeyCode: code, ...text }
    await this.send('Input.dispatchKeyEvent', pressed)
  }

  /** Takes a screenshot as PNG; undefined while it is blank. */
  async takeScreenshot(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const clip = { x: 0, y: 0, ...this.size, scale: 1 }
    // The page may be navigating.
    const taken = await this.send('Page.captureScreenshot', { format: 'png', clip }).catch(ignore)
    if (!taken) return undefined
    const bytes = new Uint8Array(Buffer.from(String(taken.data), 'base64'))
    return (await isBlankImage(bytes)) ? undefined : bytes
  }

  /** Returns the first screenshot that is not blank, taken after one of the last turns. */
  async waitForDrawing({
    turnMs,
    turnsMin,
    turnsMax,
  }: Record<'turnMs' | 'turnsMin' | 'turnsMax', number>) {
    for (let turns = 1; turns <= turnsMax; turns += 1) {
      await this.turn(turnMs)
      const shot = turns < turnsMin ? undefined : await this.takeScreenshot()
      if (shot) return shot
    }
    return undefined
  }

  /** Opens the page in a new tab. Resolves when the app's frame exists. */
  private async open(browserContextId: unknown): Promise<void> {
    const { devtools } = this.browser
    const target = { url: 'about:blank', browserContextId }
    const { targetId } = await devtools.send('Target.createTarget', target)
    const { sessionId } = await devtools.send('Target.attachToTarget', { targetId, flatten: true })
    this.session = String(sessionId)
    await this.enter(this.session)
    const screen = { ...this.size, deviceScaleFactor: 1, mobile: false }
    await this.send('Emulation.setDeviceMetricsOverride', screen)
    await this.send('Runtime.addBinding', { name: binding })
    await this.send('Page.addScriptToEvaluateOnNewDocument', { source: reporter })
    await this.send('Page.navigate', { url: this.page.url })
    await Promise.race([this.frame.started, this.stopped.promise])
  }

  /** Sends a command to the tab. */
  private send(method: string, params: Json): Promise<Json> {
    return this.untilHung(this.browser.devtools.send(method, params, this.session))
  }

  /** Opens a world of scripts beside that of the app. It has no id for an app that leaves. */
  private async openWorld(): Promise<unknown> {
    const { session, app: frameId } = this.frame
    const world = this.browser.devtools.send('Page.createIsolatedWorld', { frameId }, session)
    return (await world.catch(ignore))?.executionContextId
  }

  private evaluate(params: Json): Promise<unknown> {
    const { devtools } = this.browser
    return devtools.send('Runtime.evaluate', params, this.frame.session).catch(ignore)
  }

  /** Waits for the page. Throws PageError once it has used much CPU time meanwhile. */
  private async untilHung<Result>(work: Promise<Result>): Promise<Result> {
    const [startedAt, seconds] = [stopwatch(), this.processes.cpuSeconds]
    const hung = Promise.withResolvers<never>()
    const { hungMs } = this.limits
    const check = (): void => {
      const used = (this.processes.cpuSeconds - seconds) * 1_000
      if (Math.min(used, stopwatch() - startedAt) > hungMs) {
        hung.reject(new PageError(unresponsive))
      }
    }
    const timer = setInterval(check, measureMs)
    try {
      return await Promise.race([work, hung.promise, this.stopped.promise])
    } finally {
      clearInterval(timer)
    }
  }

  /** The page is at fault where it had half of the time, and the machine otherwise. */
  private lateness(): Error {
    const isBusy = this.processes.cpuSeconds * 1_000 > this.limits.totalMs / 2
    return isBusy ? new PageError(unresponsive) : new Unchecked('the machine is too busy')
  }

  /** Memory can grow faster than it is measured, but nothing else crashes a page twice. */
  private crash(): Error {
    if (this.processes.bytes > largeBytes) return new PageError(tooLarge)
    return this.isRepeated ? new PageError(crashing) : new Unchecked('the page crashed')
  }

  private async measure(): Promise<void> {
    while (this.isOpen) {
      await this.browser.renderers.measure()
      await Bun.sleep(measureMs)
    }
  }

  /** Closes the page. A browser that cannot do so ends. */
  private async close(context: Promise<Json>): Promise<void> {
    const { devtools, kill } = this.browser
    for (const session of this.sessions) devtools.ignore(session)
    const timer = setTimeout(kill, closeMs)
    try {
      const { browserContextId } = await context
      await devtools.send('Target.disposeBrowserContext', { browserContextId })
    } catch {
      // The browser has ended.
    } finally {
      clearTimeout(timer)
    }
  }

  /** Subscribes to a page or one of its frames and intercepts all its requests. */
  private async enter(session: string): Promise<void> {
    const { devtools } = this.browser
    this.sessions.add(session)
    devtools.listen(session, (...event) => this.onEvent(...event))
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
    const all: [string, Json][] = [
      ['Fetch.enable', { patterns: [{ urlPattern: '*' }] }],
      ['Page.enable', {}],
      ['Runtime.enable', {}],
      ['Inspector.enable', {}],
      ['Target.setAutoAttach', attach],
      ['Runtime.runIfWaitingForDebugger', {}],
    ]
    // Workers support only some of these.
    await Promise.allSettled(all.map(([method, params]) => devtools.send(method, params, session)))
  }

  private onEvent(method: string, params: Json, session: string): void {
    if (method === 'Fetch.requestPaused') {
      const send = (command: string, body: Json): Promise<Json> =>
        this.browser.devtools.send(command, body, session)
      void fulfillRequest(this.page, params, send).catch(() => {})
    } else if (method === 'Target.attachedToTarget') {
      const [inner, info] = [String(params.sessionId), recordOf(params.targetInfo)]
      // The only frame of the viewer is the wrapper. It may load again.
      const isWrapper = info.type === 'iframe' && session === this.session
      if (isWrapper) this.frame.enter(inner, String(info.targetId))
      void this.enter(inner)
    } else if (method === 'Inspector.targetCrashed') {
      this.stopped.reject(this.crash())
    } else if (method === 'Runtime.exceptionThrown') {
      this.exceptions.add(exceptionMessage(recordOf(params.exceptionDetails)))
    } else if (method === 'Runtime.bindingCalled') {
      this.departures.add(String(params.payload))
    } else this.frame.onEvent(method, params, session)
  }
}

/** Ignores that the browser could not do it for this page. */
function ignore(error: unknown): undefined {
  if (!(error instanceof DevtoolsError)) throw error
}

/** A page to open: its URL, and the handler of its requests. */
export interface PreviewPage {
  url: string
  respond(request: Request): Promise<Response>
}

/** Answers a paused request of a page, and fails those to other origins. */
async function fulfillRequest(
  page: PreviewPage,
  { requestId, request }: Json,
  send: (method: string, params: Json) => Promise<unknown>,
): Promise<void> {
  const { url = '', headers } = recordOf(request)
  if (!URL.canParse(String(url)) || new URL(String(url)).origin !== new URL(page.url).origin) {
    await send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
    return
  }
  const sent = new Headers()
  for (const [name, value] of Object.entries(recordOf(headers))) sent.set(name, String(value))
  const response = await page.respond(new Request(String(url), { headers: sent }))
  await send('Fetch.fulfillRequest', {
    requestId,
    responseCode: response.status,
    responseHeaders: [...response.headers].map(([name, value]) => ({ name, value })),
    body: Buffer.from(await response.bytes()).toString('base64'),
  })
}

/**
 * The frame of an app: that of the wrapper, which opens its document for the app, or one in it
 * (docs/spec/sandbox.md). Both share a session.
 */
class AppFrame {
  session = ''
  /** The JavaScript context of the app. */
  context = 0
  app = ''
  private wrapper = ''
  private readonly starting = Promise.withResolvers<void>()
  private readonly loading = Promise.withResolvers<void>()

  constructor(private readonly departures: Departures) {}

  /** Resolves when the frame exists, before scripts of the app run. */
  get started(): Promise<void> {
    return this.starting.promise
  }

  /** Resolves when the app has loaded. */
  get loaded(): Promise<void> {
    return this.loading.promise
  }

  /** Follows the app in a new wrapper. */
  enter(session: string, wrapper: string): void {
    Object.assign(this, { session, wrapper, app: '', context: 0 })
  }

  private start(app: string): void {
    this.app = app
    this.starting.resolve()
  }

  onEvent(method: string, params: Json, session: string): void {
    const isApp = params.frameId === this.app
    const isWrapper = this.app === this.wrapper
    const isInWrapper = params.parentFrameId === this.wrapper && !isWrapper
    if (method === 'Page.frameAttached' && isInWrapper) {
      this.start(String(params.frameId))
    } else if (method === 'Page.documentOpened' && recordOf(params.frame).id === this.wrapper) {
      this.start(this.wrapper)
    } else if (method === 'Runtime.executionContextCreated') {
      const { id, auxData } = recordOf(params.context)
      const { frameId, isDefault } = recordOf(auxData)
      // An opened document keeps its context.
      const isKnown = frameId === this.app || frameId === this.wrapper
      if (isDefault === true && isKnown) this.context = Number(id)
    } else if (isApp && method === 'Page.frameStoppedLoading') {
      this.loading.resolve()
    } else if (isWrapper && method === 'Page.loadEventFired') {
      // An opened document has no other event at its end.
      if (session === this.session) this.loading.resolve()
    } else if (isApp && method === 'Page.frameRequestedNavigation') {
      this.departures.add(String(params.url))
    }
  }
}

const urlsMax = 5
const charsMax = 500

/**
 * Script for the viewer's page: reports links that the app opens by `window.open` or by clicks of
 * its scripts. The sandbox turns these into messages (public/frame/links.ts).
 */
const binding = 'reportDeparture'
const reporter = `if (self === top) addEventListener('message', ({ data }) => {
  if (data && data.type === 'service:link') ${binding}(String(data.href))
})`

/** The URLs outside the page that it tries to open before its visitor does anything. */
class Departures {
  private readonly found = new Set<string>()
  private isWatching = true

  /** `page` is the URL of the viewer. */
  constructor(private readonly page: string) {}

  get urls(): string[] {
    return [...this.found]
  }

  add(url: string): void {
    if (!this.isWatching || this.found.size >= urlsMax || !URL.canParse(url, this.page)) return
    const { protocol, origin, href } = new URL(url, this.page)
    const isPage = /^(?:https?|data|blob):$/.test(protocol)
    if (isPage && origin !== new URL(this.page).origin) this.found.add(href.slice(0, charsMax))
  }

  /** Ends the watch. A visitor's click may lead anywhere. */
  end(): void {
    this.isWatching = false
  }
}
