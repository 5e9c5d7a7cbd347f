import { isBlankImage } from '../core/image.ts'
import { isRecord, type Json, recordOf } from '../core/schema.ts'
import type { Pipe } from './chromium.ts'
import { Devtools } from './devtools.ts'

/** A page to open: its URL, and the handler of its requests. */
export interface PreviewPage {
  url: string
  respond(request: Request): Promise<Response>
}

export interface PixelSize {
  width: number
  height: number
}

const responseMs = 5_000
const startMs = 15_000

/** Rejects after `ms` milliseconds, or when `signal` aborts. */
export async function within<T>(ms: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const all = AbortSignal.any([AbortSignal.timeout(ms), ...(signal ? [signal] : [])])
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(all.reason)
  all.addEventListener('abort', stop)
  try {
    return await Promise.race([work, promise])
  } finally {
    all.removeEventListener('abort', stop)
  }
}

/** One page in a browser without network: `PreviewPage.respond` serves all its requests. */
export class PageSession {
  /** Messages of the exceptions that the page threw. */
  readonly exceptions = new Set<string>()
  private readonly frames = new Set<string>()
  private readonly devtools: Devtools
  private session = ''

  constructor(
    private readonly page: PreviewPage,
    private readonly size: PixelSize,
    { input: out, output: come }: Pipe,
  ) {
    this.devtools = new Devtools(out, come, (...event) => this.onEvent(...event))
  }

  /** Opens the page in a new tab. */
  async open(): Promise<void> {
    const { devtools, size } = this
    const made = devtools.send('Target.createTarget', { url: 'about:blank' })
    const { targetId } = await within(startMs, made)
    const { sessionId } = await devtools.send('Target.attachToTarget', { targetId, flatten: true })
    this.session = String(sessionId)
    const screen = { ...size, deviceScaleFactor: 1, mobile: false }
    await this.send('Emulation.setDeviceMetricsOverride', screen)
    await this.enter(this.session)
    await this.send('Page.navigate', { url: this.page.url })
  }

  /** Sends a command to the tab. */
  send(method: string, params: Json): Promise<Json> {
    return this.devtools.send(method, params, this.session)
  }

  /** Evaluates an expression in every frame and ignores its errors. */
  async evaluateInFrames(expression: string): Promise<void> {
    await Promise.all(
      [...this.frames].map((frame) =>
        this.devtools.send('Runtime.evaluate', { expression }, frame).catch(() => {}),
      ),
    )
  }

  /** Returns whether every frame still evaluates scripts. */
  async isResponsive(): Promise<boolean> {
    return within(responseMs, this.evaluateInFrames('1')).then(
      () => true,
      () => false,
    )
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
    const taken = await this.send('Page.captureScreenshot', { format: 'png', clip }).catch(() => {})
    // The page is still navigating.
    if (!taken) return undefined
    const bytes = new Uint8Array(Buffer.from(String(taken.data), 'base64'))
    return (await isBlankImage(bytes)) ? undefined : bytes
  }

  /** Subscribes to a page or one of its frames and intercepts all its requests. */
  private async enter(session: string): Promise<void> {
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
    const all: [string, Json][] = [
      ['Fetch.enable', { patterns: [{ urlPattern: '*' }] }],
      ['Runtime.enable', {}],
      ['Target.setAutoAttach', attach],
      ['Runtime.runIfWaitingForDebugger', {}],
    ]
    // Workers support only some of these.
    const sent = all.map(([method, params]) => this.devtools.send(method, params, session))
    await Promise.allSettled(sent)
  }

  private onEvent(method: string, params: Json, session: string): void {
    if (method === 'Fetch.requestPaused') {
      void this.fulfill(params, session).catch(() => {})
    } else if (method === 'Target.attachedToTarget') {
      const inner = String(params.sessionId)
      if (isRecord(params.targetInfo) && params.targetInfo.type === 'iframe') this.frames.add(inner)
      void this.enter(inner)
    } else if (method === 'Target.detachedFromTarget') {
      this.frames.delete(String(params.sessionId))
    } else if (method === 'Runtime.exceptionThrown' && isRecord(params.exceptionDetails)) {
      this.exceptions.add(exceptionMessage(params.exceptionDetails))
    }
  }

  private async fulfill({ requestId, request }: Json, session: string): Promise<void> {
    const { url = '', headers } = recordOf(request)
    const isOurs = String(url).startsWith(new URL(this.page.url).origin)
    if (!isOurs) {
      const errorReason = 'BlockedByClient'
      await this.devtools.send('Fetch.failRequest', { requestId, errorReason }, session)
      return
    }
    const sent = new Headers()
    for (const [name, value] of Object.entries(recordOf(headers))) {
      sent.set(name, String(value))
    }
    const response = await this.page.respond(new Request(String(url), { headers: sent }))
    const filled = {
      requestId,
      responseCode: response.status,
      responseHeaders: [...response.headers].map(([name, value]) => ({ name, value })),
      body: Buffer.from(await response.bytes()).toString('base64'),
    }
    await this.devtools.send('Fetch.fulfillRequest', filled, session)
  }
}

/** Returns "ReferenceError: x is not defined (line 12 of its script)" for an exception. */
function exceptionMessage({ text, exception, lineNumber }: Json): string {
  const description = isRecord(exception) ? exception.description : undefined
  const [first = ''] = String(description ?? text).split('\n')
  const line = typeof lineNumber === 'number' ? ` (line ${lineNumber + 1} of its script)` : ''
  return `The page throws an error when it opens: ${first.slice(0, 300)}${line}`
}
