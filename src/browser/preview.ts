import { isBlankImage } from '../core/image.ts'
import { isRecord, recordOf } from '../core/schema.ts'
import { type BrowserLocation, type Pipe, withChromium } from './chromium.ts'
import { Devtools } from './devtools.ts'

/** A page to preview: its URL, and the handler of its requests. */
export interface PreviewPage {
  url: string
  respond(request: Request): Promise<Response>
}

/** The result of a preview: problems as sentences, and a PNG screenshot. */
export interface PreviewResult {
  problems: string[]
  screenshot: Uint8Array<ArrayBuffer> | undefined
}

const side = 640
/** Height of the viewer's toolbar in pixels (public/css/shell.css). */
const toolbarHeight = 44
const screenshotsMax = 6
const betweenMs = 500
const responseMs = 5_000
const startMs = 15_000
const totalMs = 30_000
const problemsMax = 8

type Wire = Record<string, unknown>

const blank =
  'The page is blank: every pixel has the same color. It must draw something at once, ' +
  'even before its assets have loaded.'
const unresponsive =
  'The page does not respond: it has an endless loop, or does too much work at once.'

/**
 * Opens a page in a new browser and reports what it draws and throws. Throws when the browser
 * fails.
 */
export const previewPage = (
  browser: BrowserLocation,
  shown: PreviewPage,
  signal: AbortSignal,
): Promise<PreviewResult> =>
  withChromium(browser, (pipe) => within(totalMs, new PreviewSession(shown, pipe).run(), signal))

/** Rejects after `ms` milliseconds, or when `signal` aborts. */
async function within<T>(ms: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
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

class PreviewSession {
  private readonly problems = new Set<string>()
  private readonly frames = new Set<string>()
  private readonly devtools: Devtools

  constructor(
    private readonly page: PreviewPage,
    { input: out, output: come }: Pipe,
  ) {
    this.devtools = new Devtools(out, come, (...event) => this.onEvent(...event))
  }

  async run(): Promise<PreviewResult> {
    const { devtools } = this
    const made = devtools.send('Target.createTarget', { url: 'about:blank' })
    const { targetId } = await within(startMs, made)
    const { sessionId } = await devtools.send('Target.attachToTarget', { targetId, flatten: true })
    const page = String(sessionId)
    const size = { width: side, height: side + toolbarHeight, deviceScaleFactor: 1, mobile: false }
    await devtools.send('Emulation.setDeviceMetricsOverride', size, page)
    await this.enter(page)
    await devtools.send('Page.navigate', { url: this.page.url }, page)
    let screenshot: PreviewResult['screenshot']
    for (let count = 0; count < screenshotsMax; count += 1) {
      await Bun.sleep(betweenMs)
      if (!(await this.isResponsive())) return { problems: [unresponsive], screenshot: undefined }
      screenshot = await this.picture(page)
      if (screenshot && count > 1) break
    }
    if (!screenshot) this.problems.add(blank)
    return { problems: [...this.problems].slice(0, problemsMax), screenshot: screenshot }
  }

  /** Subscribes to a page or one of its frames and intercepts all its requests. */
  private async enter(session: string): Promise<void> {
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
    const all: [string, Wire][] = [
      ['Fetch.enable', { patterns: [{ urlPattern: '*' }] }],
      ['Runtime.enable', {}],
      ['Target.setAutoAttach', attach],
      ['Runtime.runIfWaitingForDebugger', {}],
    ]
    // Workers support only some of these.
    const sent = all.map(([method, params]) => this.devtools.send(method, params, session))
    await Promise.allSettled(sent)
  }

  private onEvent(method: string, params: Wire, session: string): void {
    if (method === 'Fetch.requestPaused') {
      void this.fulfill(params, session).catch(() => {})
    } else if (method === 'Target.attachedToTarget') {
      const inner = String(params.sessionId)
      if (isRecord(params.targetInfo) && params.targetInfo.type === 'iframe') this.frames.add(inner)
      void this.enter(inner)
    } else if (method === 'Target.detachedFromTarget') {
      this.frames.delete(String(params.sessionId))
    } else if (method === 'Runtime.exceptionThrown' && isRecord(params.exceptionDetails)) {
      this.problems.add(exceptionMessage(params.exceptionDetails))
    }
  }

  private async fulfill({ requestId, request }: Wire, session: string): Promise<void> {
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

  /** Returns whether every frame still evaluates scripts. */
  private async isResponsive(): Promise<boolean> {
    const requested = [...this.frames].map((frame) =>
      this.devtools.send('Runtime.evaluate', { expression: '1' }, frame).catch(() => {}),
    )
    return within(responseMs, Promise.all(requested)).then(
      () => true,
      () => false,
    )
  }

  /** Takes a screenshot of the frame below the toolbar; undefined while it is blank. */
  private async picture(page: string): Promise<PreviewResult['screenshot']> {
    const clip = { x: 0, y: toolbarHeight, width: side, height: side, scale: 1 }
    const requested = { format: 'png', clip }
    const taken = await this.devtools
      .send('Page.captureScreenshot', requested, page)
      .catch(() => {})
    // The page is still navigating.
    if (!taken) return undefined
    const bytes = new Uint8Array(Buffer.from(String(taken.data), 'base64'))
    return (await isBlankImage(bytes)) ? undefined : bytes
  }
}

/** Returns "ReferenceError: x is not defined (line 12 of its script)" for an exception. */
function exceptionMessage({ text, exception, lineNumber }: Wire): string {
  const description = isRecord(exception) ? exception.description : undefined
  const [first = ''] = String(description ?? text).split('\n')
  const line = typeof lineNumber === 'number' ? ` (line ${lineNumber + 1} of its script)` : ''
  return `The page throws an error when it opens: ${first.slice(0, 300)}${line}`
}
