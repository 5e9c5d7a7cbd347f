import { type BrowserLocation, type Chromium, startChromium } from './chromium.ts'

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
