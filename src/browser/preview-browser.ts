import { FairQueue, PoolBusyError } from '../core/fair-queue.ts'
import type { Log } from '../core/log.ts'
import { capturePage } from './capture.ts'
import type { BrowserLocation } from './chromium.ts'
import type { PixelSize, PreviewPage } from './page-session.ts'
import { previewPage, type PreviewResult } from './preview.ts'

/** A page and its files, to open outside its public link. */
export interface PreviewInput {
  html: Uint8Array
  files: { name: string; type: string; sha256: string; content: Uint8Array }[]
}

/** A client previews one page, so that another need not wait. */
const previewBounds = {
  slots: 2,
  slotsPerClient: 1,
  waitingMax: 32,
  waitingBytesMax: Infinity,
  largeBytes: Infinity,
  heavyMs: Infinity,
}
/** Captures run in the background and must not delay previews. */
const captureBounds = { ...previewBounds, slots: 1 }

/** Opens pages in the browser of this machine. */
export class PreviewBrowser {
  private render: ((input: PreviewInput) => PreviewPage) | undefined
  private readonly previews = new FairQueue(previewBounds)
  private readonly captures = new FairQueue(captureBounds)

  constructor(
    private readonly path: string | undefined,
    private readonly dataDir: string,
    private readonly log: Log,
  ) {}

  get isAvailable(): boolean {
    return this.path !== undefined
  }

  /** Registers the renderer: the viewer, with its sandbox. */
  register(show: (input: PreviewInput) => PreviewPage): void {
    this.render = show
  }

  /**
   * Previews a page. Returns undefined when there is no browser, or when the browser fails: the
   * page is then accepted without a preview.
   */
  preview(input: PreviewInput, signal: AbortSignal): Promise<PreviewResult | undefined> {
    return this.run(this.previews, input, signal, (browser, page) =>
      previewPage(browser, page, signal),
    )
  }

  /** Plays a page and returns PNG screenshots; undefined without a browser or when it fails. */
  capture(
    input: PreviewInput,
    size: PixelSize,
    signal: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>[] | undefined> {
    return this.run(this.captures, input, signal, (browser, page) =>
      capturePage(browser, page, size, signal),
    )
  }

  private async run<Result>(
    queue: FairQueue,
    input: PreviewInput,
    signal: AbortSignal,
    open: (browser: BrowserLocation, page: PreviewPage) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { path, dataDir, render } = this
    if (path === undefined || !render) return undefined
    try {
      return await queue.run(0, async () => {
        signal.throwIfAborted()
        const niceness = queue === this.previews ? 10 : 19
        return open({ path, dataDir, niceness }, render(input))
      })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof PoolBusyError) return undefined
      this.log.warn('browser.failed', { why: String(error) })
      return undefined
    }
  }
}
