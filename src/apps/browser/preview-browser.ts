import { availableParallelism } from 'node:os'

import { FairQueue, PoolBusyError } from '../../kernel/fair-queue.ts'
import type { Log } from '../../kernel/log.ts'
import { PageError, Unchecked, WarmBrowser } from './chromium.ts'
import { type PageLimits, PageSession, type PixelSize, type PreviewPage } from './page-session.ts'

/** A page and its files, to open outside its public link. */
export interface PreviewInput {
  html: Uint8Array
  files: { name: string; type: string; sha256: string; content: Uint8Array }[]
}

/** A page uses two cores. */
const bounds = {
  slots: Math.max(1, Math.floor(availableParallelism() / 2)),
  waitingMax: 32,
  waitingBytesMax: Infinity,
  largeBytes: Infinity,
  heavyMs: Infinity,
}
const defaultLimits: PageLimits & { idleMs: number } = {
  totalMs: 30_000,
  hungMs: 5_000,
  idleMs: 60_000,
}
const attemptsMax = 2

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Opens built pages, which server/http/background-work.ts serves, in Chromium. */
    readonly previewBrowser: PreviewBrowser
  }
}

/** Opens pages in the browser of this machine. */
export class PreviewBrowser {
  private render: ((input: PreviewInput) => PreviewPage) | undefined
  private readonly pages = new FairQueue(bounds)
  private readonly browser: WarmBrowser | undefined
  private readonly limits: PageLimits

  constructor(
    path: string | undefined,
    dataDir: string,
    private readonly log: Log,
    limits: Partial<typeof defaultLimits> = {},
  ) {
    const { idleMs, ...ofPage } = { ...defaultLimits, ...limits }
    this.limits = ofPage
    this.browser = path === undefined ? undefined : new WarmBrowser({ path, dataDir }, idleMs)
  }

  get isAvailable(): boolean {
    return this.browser !== undefined
  }

  /** Registers the renderer: the viewer, with its sandbox. */
  register(show: (input: PreviewInput) => PreviewPage): void {
    this.render = show
  }

  /** Ends the browser. */
  async close(): Promise<void> {
    await this.browser?.close()
  }

  /**
   * Previews a page. Returns undefined when there is no browser, or when the page could not be
   * checked. That is no fault of the page, which is then accepted without a preview.
   */
  preview(input: PreviewInput, signal: AbortSignal): Promise<PreviewResult | undefined> {
    return this.run(input, previewSize, signal, (session) => previewPage(session, signal))
  }

  /** Plays a page. Returns undefined as `preview` does. */
  capture(input: PreviewInput, size: PixelSize, signal: AbortSignal): Promise<Capture | undefined> {
    return this.run(input, size, signal, (session) => capturePage(session, size, signal))
  }

  private async run<Result>(
    input: PreviewInput,
    size: PixelSize,
    signal: AbortSignal,
    work: (session: PageSession) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { browser, render } = this
    if (!browser || !render) return undefined
    const attempt = (attempts: number) =>
      browser.use((running) => {
        signal.throwIfAborted()
        return work(new PageSession(running, render(input), size, this.limits, attempts > 1))
      })
    try {
      return await this.pages.run(0, () => repeat(attempt))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof PoolBusyError) return undefined
      this.log.warn('browser.failed', { why: String(error) })
      return undefined
    }
  }
}

/** Repeats work that failed for a reason outside of its page. */
async function repeat<Result>(attempt: (attempts: number) => Promise<Result>): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(attempts)
    } catch (error) {
      if (!(error instanceof Unchecked) || attempts === attemptsMax) throw error
    }
  }
}

/** The result of a preview: problems as sentences, and a PNG screenshot. */
export interface PreviewResult {
  problems: string[]
  screenshot: Uint8Array<ArrayBuffer> | undefined
}

const previewSize = { width: 640, height: 640 }
/** Eight seconds: a page may load a library and its assets before it draws. */
const turnsMax = 16
const turnsMin = 3
const turnMs = 500
const problemsMax = 8

const blank =
  'The page is blank: it drew nothing in 8 seconds, and every pixel has the same color. The fault ' +
  'is in the page. Draw a title or a text such as “Loading” at once, before the assets have loaded.'

const leaves = (url: string): string =>
  `The page leaves for ${url} by itself, and visitors see nothing then. Use a link instead.`

/** Reports what a page draws and throws when it opens, and where it goes by itself. */
async function previewPage(session: PageSession, signal: AbortSignal): Promise<PreviewResult> {
  try {
    const screenshot = await session.run(
      () => session.waitForDrawing({ turnMs, turnsMin, turnsMax }),
      signal,
    )
    const departures = session.departures.urls.map(leaves)
    const others = departures.length > 0 || screenshot ? departures : [blank]
    const problems = [...session.exceptions, ...others]
    return { problems: problems.slice(0, problemsMax), screenshot }
  } catch (error) {
    if (!(error instanceof PageError)) throw error
    return { problems: [error.message], screenshot: undefined }
  }
}

const drawMs = 400
const drawTurnsMax = 12
/** Time of a page before its first input. It may not leave meanwhile. */
const watchTurns = 8
/** Time of play, and the pause after each input. */
const stepMs = 200
const playSteps = 10

/** Keys that start and steer most games, with their Windows key codes. */
const keys: readonly (readonly [key: string, code: number])[] = [
  ['Enter', 13],
  ['ArrowRight', 39],
  [' ', 32],
  ['ArrowUp', 38],
  ['ArrowLeft', 37],
]

/** Pages often end with credits or links, which say nothing on a cover. */
const hideFooters =
  "for (const e of document.querySelectorAll('footer, [role=contentinfo]')) e.style.display = 'none'"

type Screenshot = Uint8Array<ArrayBuffer>

/** Screenshots of a page as PNG, and the URLs that it tried to open by itself. */
export interface Capture {
  screenshots: Screenshot[]
  departures: string[]
}

/**
 * Plays a page for two seconds. Takes screenshots before, during and after; none of them is blank.
 */
async function capturePage(
  session: PageSession,
  size: PixelSize,
  signal: AbortSignal,
): Promise<Capture> {
  const screenshots: Screenshot[] = []
  const keep = (shot: Screenshot | undefined): void => void (shot && screenshots.push(shot))
  try {
    await session.run(() => playPage(session, size, keep), signal)
  } catch (error) {
    // The page stopped itself. What it showed before is its cover.
    if (!(error instanceof PageError)) throw error
  }
  return { screenshots, departures: session.departures.urls }
}

async function playPage(
  session: PageSession,
  size: PixelSize,
  keep: (shot: Screenshot | undefined) => void,
): Promise<void> {
  const first = await session.waitForDrawing({
    turnMs: drawMs,
    turnsMin: watchTurns,
    turnsMax: drawTurnsMax,
  })
  session.departures.end()
  if (!first || session.departures.urls.length > 0) return
  await session.runInApp(hideFooters)
  keep((await session.takeScreenshot()) ?? first)
  for (let step = 0; step < playSteps; step += 1) {
    await play(session, step, size)
    if (step === playSteps / 2) keep(await session.takeScreenshot())
  }
  keep(await session.takeScreenshot())
}

/** Clicks the middle first, which gives the app the focus, and then presses one key. */
async function play(session: PageSession, step: number, size: PixelSize): Promise<void> {
  if (step === 0) await session.click(size.width / 2, size.height / 2)
  const [key, code] = keys[step % keys.length] ?? keys[0] ?? ['Enter', 13]
  await session.key('keyDown', key, code)
  await Bun.sleep(stepMs)
  await session.key('keyUp', key, code)
}
