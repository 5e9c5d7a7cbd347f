import { availableParallelism } from 'node:os'

import { FairQueue, PoolBusyError } from '../../kernel/fair-queue.ts'
import type { Log } from '../../kernel/log.ts'
import { type Capture, capturePage } from './capture.ts'
import { WarmBrowser } from './chromium.ts'
import { PageError, Unchecked } from './page-errors.ts'
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
    const screenshot = await session.run(() => waitForDrawing(session), signal)
    const departures = session.departures.urls.map(leaves)
    const others = departures.length > 0 || screenshot ? departures : [blank]
    const problems = [...session.exceptions, ...others]
    return { problems: problems.slice(0, problemsMax), screenshot }
  } catch (error) {
    if (!(error instanceof PageError)) throw error
    return { problems: [error.message], screenshot: undefined }
  }
}

async function waitForDrawing(session: PageSession): Promise<PreviewResult['screenshot']> {
  for (let turns = 1; turns <= turnsMax; turns += 1) {
    await session.turn(turnMs)
    const shot = turns < turnsMin ? undefined : await session.takeScreenshot()
    if (shot) return shot
  }
  return undefined
}
