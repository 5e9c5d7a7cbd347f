import type { Log } from '../core/log.ts'
import { type PreviewPage, previewPage, type PreviewResult } from './preview.ts'

/** A page and its files, to preview before they are published. */
export interface PreviewInput {
  html: Uint8Array
  files: { name: string; type: string; sha256: string; content: Uint8Array }[]
}

const waitingMax = 32

/** Previews pages in the browser of this machine, one at a time. */
export class PreviewBrowser {
  private render: ((input: PreviewInput) => PreviewPage) | undefined
  private last: Promise<unknown> = Promise.resolve()
  private waiting = 0

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
  async preview(input: PreviewInput, signal: AbortSignal): Promise<PreviewResult | undefined> {
    const { path, dataDir, render: show } = this
    if (path === undefined || !show || this.waiting >= waitingMax) return undefined
    this.waiting += 1
    const before = this.last
    const look = before.then(async () => {
      signal.throwIfAborted()
      return previewPage({ path, dataDir }, show(input), signal)
    })
    this.last = look.catch(() => {})
    try {
      return await look
    } catch (error) {
      signal.throwIfAborted()
      this.log.warn('browser.failed', { why: String(error) })
      return undefined
    } finally {
      this.waiting -= 1
    }
  }
}
