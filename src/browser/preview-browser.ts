import type { Log } from '../core/log.ts'
import { lookAt, type Looked, type Shown } from './preview.ts'

/** A page that is to be opened as its visitors would, with its files, before it is published. */
export interface Trial {
  html: Uint8Array
  files: { name: string; type: string; sha256: string; content: Uint8Array }[]
}

const waitingMax = 32

/** Opens pages in the browser of this machine, one after the other. */
export class PreviewBrowser {
  private show: ((trial: Trial) => Shown) | undefined
  private last: Promise<unknown> = Promise.resolve()
  private waiting = 0

  constructor(
    private readonly path: string | undefined,
    private readonly dataDir: string,
    private readonly log: Log,
  ) {}

  get isThere(): boolean {
    return this.path !== undefined
  }

  /** How a trial is shown: by the viewer, in its sandbox. */
  register(show: (trial: Trial) => Shown): void {
    this.show = show
  }

  /**
   * What was seen of a page. Undefined when there is no browser, or when it failed for no fault of
   * the page: then the page is taken as it is.
   */
  async look(trial: Trial, signal: AbortSignal): Promise<Looked | undefined> {
    const { path, dataDir, show } = this
    if (path === undefined || !show || this.waiting >= waitingMax) return undefined
    this.waiting += 1
    const before = this.last
    const look = before.then(async () => {
      signal.throwIfAborted()
      return lookAt({ path, dataDir }, show(trial), signal)
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
