import { t } from '../words.ts'
import { fetchFiles, fetchLibraries } from './fetch-libraries.ts'
import {
  type DialogResult,
  field,
  type PageContent,
  type PageFiles,
  type Saved,
  type Start,
  type Surroundings,
} from './messages.ts'

const waitMs = 15_000
/** The most time from the load of a wrapper to its message, which it sends before. */
const silentMs = 2_000
/** Starts of an app that reloads or navigates away, at most, within so many milliseconds. */
const leavesMax = 3
const leavesMs = 10_000

/** Returns a number with 53 random bits. */
const newRun = (): number => Number(crypto.getRandomValues(new BigUint64Array(1))[0])

/**
 * Sends the message of a run that has ended when its port closes. Its own one may be lost: Chromium
 * drops what a document sends from pagehide, where its frame is gone first.
 */
function watchEnd(port: MessagePort, { run }: Start): void {
  const data = { type: 'service:gone', run }
  port.addEventListener('close', () => dispatchEvent(new MessageEvent('message', { data })))
  port.start()
}

/** A page's end of the sandbox: loads the wrapper into a frame and starts apps in it. */
export class SandboxHost {
  /** The newest start, by a number that only the app knows. */
  run = newRun()
  hasStarted = false
  /** The number of frames from the wrapper to the app; 0 where the app becomes its document. */
  #depth = 0
  /** When the app left lately. */
  #leaves: number[] = []

  constructor(
    private readonly frame: HTMLIFrameElement,
    private readonly url: string,
  ) {}

  /**
   * Resolves with the wrapper's first message. Its origin must be opaque, or there is no sandbox:
   * then it rejects with the message "sandbox", and with "frame" when nothing arrives.
   */
  load(): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = ({ source, origin, data }: MessageEvent): void => {
        if (source !== this.frame.contentWindow || field(data, 'type') !== 'mode') return
        // A later one may come from an app that has become the document of the wrapper.
        removeEventListener('message', take)
        if (origin !== 'null') return reject(new Error('sandbox'))
        this.#depth = Number(field(data, 'depth'))
        resolve()
      }
      addEventListener('message', take)
      const failIn = (ms: number) => setTimeout(() => reject(new Error('frame')), ms)
      failIn(waitMs)
      // Without a network, a restart loads the error page of the browser.
      this.frame.onload = () => this.hasStarted && failIn(silentMs)
      const isLoading = this.frame.hasAttribute('src') || this.frame.hasAttribute('srcdoc')
      if (!isLoading) this.frame.src = this.url
      // A frame of the page's HTML may have sent its message before this script ran.
      else this.frame.contentWindow?.postMessage({ type: 'ask' }, '*')
    })
  }

  /** Runs an app, instead of the current one. Rejects like `load`. */
  async start(
    content: PageContent,
    local: Saved = [],
    session: Saved = [],
    answers: DialogResult[] = [],
    isMuted = false,
    surroundings?: Surroundings,
  ): Promise<void> {
    const isFirst = !this.hasStarted
    this.hasStarted = true
    this.run = newRun()
    const labels = { ok: t('OK'), cancel: t('Cancel') }
    const given = { local, session, answers, isMuted, labels, surroundings }
    const message: Start = { type: 'start', run: this.run, ...content, ...given }
    const { port1, port2 } = new MessageChannel()
    const send = (): void => this.frame.contentWindow?.postMessage(message, '*', [port2])
    if (this.#depth === 0) watchEnd(port1, message)
    if (isFirst || this.#depth > 0) return send()
    // The last app has taken the place of the wrapper.
    this.#reload()
    await this.load()
    if (message.run !== this.run) return
    send()
    // The keyboard stays with the last window unless the focus is moved away and back.
    if (document.activeElement !== this.frame) return
    this.frame.blur()
    this.frame.focus()
  }

  /** Notes that the app left. Returns whether it may start again by itself. */
  mayStartAgain(): boolean {
    const now = performance.now()
    this.#leaves = [...this.#leaves.filter((at) => now - at < leavesMs), now]
    return this.#leaves.length <= leavesMax
  }

  /** Counts anew, after a person started an app. */
  forgetLeaves(): void {
    this.#leaves = []
  }

  /** Loads the wrapper into a new window, without an entry in the history. */
  #reload(): void {
    const { parentNode, nextSibling } = this.frame
    this.frame.remove()
    parentNode?.insertBefore(this.frame, nextSibling)
  }

  /** The window of the app, once it exists: that of the wrapper, or below it and its relays. */
  get app(): Window | null {
    let at = this.frame.contentWindow
    // An index without a frame throws for another origin.
    for (let i = 0; i < this.#depth; i++) at = at?.length ? (at[0] ?? null) : null
    return at
  }
}

/** Returns a response of this server. Throws its status when it is an error. */
export async function fetchOwn(url: string): Promise<Response> {
  const response = await fetch(url, { credentials: 'same-origin' })
  if (!response.ok) throw new Error(String(response.status))
  return response
}

/** The list of the files, libraries and scripts of an app. */
export type PageList = () => Promise<unknown>

/** Returns a function that fetches the list of the app at a path, once. */
export function openList(at: string): PageList {
  let list: Promise<unknown> | undefined
  return () => (list ??= fetchOwn(`${at}/files`).then((response) => response.json()))
}

/** Fetches the HTML of the app at a path, with its libraries and what it needs of its files. */
export async function fetchPage(at: string, openedList: PageList): Promise<PageContent> {
  const response = await fetchOwn(`${at}/data`)
  const html = response.text()
  if (!response.headers.has('page-list')) return { html: await html }
  const list = await openedList()
  const given = field(list, 'libraries')
  const libraries = given === undefined ? undefined : await fetchLibraries(given, fetchOwn)
  const page = field(list, 'page')
  const names = filesIn(list).map(({ name }) => name)
  const copied = await fetchContents(list)
  const files =
    typeof page === 'string'
      ? { page, path: '', hash: '', search: '', names, ...copied }
      : undefined
  return { html: await html, ...(libraries && { libraries }), ...(files && { files }) }
}

/** Fetches all files of a copy, whose page reaches none of them by itself. */
async function fetchContents(list: unknown): Promise<Partial<PageFiles>> {
  const rows = field(list, 'contents')
  if (!Array.isArray(rows)) return {}
  const address = new URL(String(field(list, 'frame')), location.href).href.replace(/\?.*/, '')
  return { address, contents: await fetchFiles(rows, fetchOwn) }
}

/** Returns the files of a list with the paths of their data. */
export function filesIn(list: unknown): { name: string; url: string }[] {
  const rows: unknown = field(list, 'files')
  return (Array.isArray(rows) ? rows : []).map((row: unknown) => ({
    name: String(field(row, 'name')),
    url: String(field(row, 'url')),
  }))
}
