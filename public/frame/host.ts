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
/** Time for an app to save before it ends. */
const leaveMs = 150

/** A page's end of the sandbox: loads the wrapper into a frame and starts apps in it. */
export class SandboxHost {
  /** The number of the newest start. */
  run = 0
  #depth = 0

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
      addEventListener('message', ({ source, origin, data }) => {
        if (source !== this.frame.contentWindow || field(data, 'type') !== 'mode') return
        if (origin !== 'null') return reject(new Error('sandbox'))
        this.#depth = Number(field(data, 'depth'))
        resolve()
      })
      setTimeout(() => reject(new Error('frame')), waitMs)
      const isLoading = this.frame.hasAttribute('src') || this.frame.hasAttribute('srcdoc')
      if (!isLoading) this.frame.src = this.url
      // A frame of the page's HTML may have sent its message before this script ran.
      else this.frame.contentWindow?.postMessage({ type: 'ask' }, '*')
    })
  }

  /** Runs an app, instead of the current one. */
  start(
    content: PageContent,
    local: Saved = [],
    session: Saved = [],
    answers: DialogResult[] = [],
    isMuted = false,
    surroundings?: Surroundings,
  ): void {
    this.run += 1
    const labels = { ok: t('OK'), cancel: t('Cancel') }
    const given = { local, session, answers, isMuted, labels, surroundings }
    const message: Start = { type: 'start', run: this.run, ...content, ...given }
    this.frame.contentWindow?.postMessage(message, '*')
  }

  /** The window of the app, once it exists: below the wrapper and its relays. */
  get app(): Window | null {
    let at = this.frame.contentWindow
    // An index without a frame throws for another origin.
    for (let i = 0; i <= this.#depth; i++) at = at?.length ? (at[0] ?? null) : null
    return at
  }

  /** Lets the app save what it saves when it is left, and waits for it. */
  async letSave(): Promise<void> {
    const { app } = this
    const waiting = new AbortController()
    await new Promise<void>((resolve) => {
      const take = ({ source, data }: MessageEvent): void => {
        if (source === app && field(data, 'type') === 'service:left') resolve()
      }
      addEventListener('message', take, { signal: waiting.signal })
      setTimeout(resolve, leaveMs)
      app?.postMessage({ type: 'service:leave' }, '*')
    })
    waiting.abort()
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
    typeof page === 'string' ? { page, hash: '', search: '', names, ...copied } : undefined
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
