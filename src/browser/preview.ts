import { isBlank } from '../core/picture.ts'
import { isRecord, recordOf } from '../core/schema.ts'
import { type Browser, type Pipe, withChromium } from './chromium.ts'
import { Devtools } from './devtools.ts'

/** Where a page stands, and how its addresses are answered. */
export interface Shown {
  url: string
  answer(request: Request): Promise<Response>
}

/** What was seen of a page: its faults as sentences, and a picture of it as a PNG. */
export interface Looked {
  faults: string[]
  picture: Uint8Array<ArrayBuffer> | undefined
}

const side = 640
/** The height of the viewer's bar over the app (public/css/shell.css). */
const shell = 44
const looks = 6
const betweenMs = 500
const answerMs = 5_000
const startMs = 15_000
const allMs = 30_000
const faultsMax = 8

type Wire = Record<string, unknown>

const blank =
  'The page draws nothing: all of it has one colour. It must show something at once, ' +
  'also while its assets are not there.'
const stuck =
  'The page does not answer: it has an endless loop, or does too much work at once, ' +
  'so that nobody could use it.'

/** Opens a page in a browser of its own: what it draws and throws. Fails when the browser does. */
export const lookAt = (browser: Browser, shown: Shown, signal: AbortSignal): Promise<Looked> =>
  withChromium(browser, (pipe) => within(allMs, new Look(shown, pipe).run(), signal))

/** Fails when it takes longer, or is called off. */
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

class Look {
  private readonly faults = new Set<string>()
  private readonly frames = new Set<string>()
  private readonly devtools: Devtools

  constructor(
    private readonly shown: Shown,
    { out, come }: Pipe,
  ) {
    this.devtools = new Devtools(out, come, (...event) => this.hear(...event))
  }

  async run(): Promise<Looked> {
    const { devtools } = this
    const made = devtools.send('Target.createTarget', { url: 'about:blank' })
    const { targetId } = await within(startMs, made)
    const { sessionId } = await devtools.send('Target.attachToTarget', { targetId, flatten: true })
    const page = String(sessionId)
    const size = { width: side, height: side + shell, deviceScaleFactor: 1, mobile: false }
    await devtools.send('Emulation.setDeviceMetricsOverride', size, page)
    await this.enter(page)
    await devtools.send('Page.navigate', { url: this.shown.url }, page)
    let picture: Looked['picture']
    for (let count = 0; count < looks; count += 1) {
      await Bun.sleep(betweenMs)
      if (!(await this.answers())) return { faults: [stuck], picture: undefined }
      picture = await this.picture(page)
      if (picture && count > 1) break
    }
    if (!picture) this.faults.add(blank)
    return { faults: [...this.faults].slice(0, faultsMax), picture }
  }

  /** Listens to a page or to a frame of it; all that it loads comes to us. */
  private async enter(session: string): Promise<void> {
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
    const all: [string, Wire][] = [
      ['Fetch.enable', { patterns: [{ urlPattern: '*' }] }],
      ['Runtime.enable', {}],
      ['Target.setAutoAttach', attach],
      ['Runtime.runIfWaitingForDebugger', {}],
    ]
    // Workers have not all of these.
    const sent = all.map(([method, params]) => this.devtools.send(method, params, session))
    await Promise.allSettled(sent)
  }

  private hear(method: string, params: Wire, session: string): void {
    if (method === 'Fetch.requestPaused') {
      void this.answer(params, session).catch(() => {})
    } else if (method === 'Target.attachedToTarget') {
      const inner = String(params.sessionId)
      if (isRecord(params.targetInfo) && params.targetInfo.type === 'iframe') this.frames.add(inner)
      void this.enter(inner)
    } else if (method === 'Target.detachedFromTarget') {
      this.frames.delete(String(params.sessionId))
    } else if (method === 'Runtime.exceptionThrown' && isRecord(params.exceptionDetails)) {
      this.faults.add(sentenceOf(params.exceptionDetails))
    }
  }

  private async answer({ requestId, request }: Wire, session: string): Promise<void> {
    const { url = '', headers } = recordOf(request)
    const isOurs = String(url).startsWith(new URL(this.shown.url).origin)
    if (!isOurs) {
      const errorReason = 'BlockedByClient'
      await this.devtools.send('Fetch.failRequest', { requestId, errorReason }, session)
      return
    }
    const sent = new Headers()
    for (const [name, value] of Object.entries(recordOf(headers))) {
      sent.set(name, String(value))
    }
    const response = await this.shown.answer(new Request(String(url), { headers: sent }))
    const filled = {
      requestId,
      responseCode: response.status,
      responseHeaders: [...response.headers].map(([name, value]) => ({ name, value })),
      body: Buffer.from(await response.bytes()).toString('base64'),
    }
    await this.devtools.send('Fetch.fulfillRequest', filled, session)
  }

  /** Whether every frame still does what it is told. */
  private async answers(): Promise<boolean> {
    const asked = [...this.frames].map((frame) =>
      this.devtools.send('Runtime.evaluate', { expression: '1' }, frame).catch(() => {}),
    )
    return within(answerMs, Promise.all(asked)).then(
      () => true,
      () => false,
    )
  }

  /** What the frame shows, below the shell; undefined while that is all of one colour. */
  private async picture(page: string): Promise<Looked['picture']> {
    const clip = { x: 0, y: shell, width: side, height: side, scale: 1 }
    const asked = { format: 'png', clip }
    const taken = await this.devtools.send('Page.captureScreenshot', asked, page).catch(() => {})
    // While it still goes to its address there is no page to be seen.
    if (!taken) return undefined
    const bytes = new Uint8Array(Buffer.from(String(taken.data), 'base64'))
    return (await isBlank(bytes)) ? undefined : bytes
  }
}

/** "line 12: ReferenceError: x is not defined", by the page's own lines. */
function sentenceOf({ text, exception, lineNumber }: Wire): string {
  const said = isRecord(exception) ? exception.description : undefined
  const [first = ''] = String(said ?? text).split('\n')
  const line = typeof lineNumber === 'number' ? ` (line ${lineNumber + 1} of its script)` : ''
  return `The page throws when it is opened: ${first.slice(0, 300)}${line}`
}
