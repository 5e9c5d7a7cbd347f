import { field, type Files, type Start, text } from './messages.ts'
import { openNotices } from './notices.ts'
import { fileOffer, linkOffer } from './offers.ts'
import { apply, changesIn, openSaves } from './saves.ts'

/** Our page around an app: fetches it as data, hands it to the wrapper, and keeps the bar alive. */
const restartsMax = 3
const restartWindowMs = 10_000
const waitMs = 15_000
const hungMs = 4_000
const goneMs = 500

const { at = '', frame: frameUrl = '', maker = '' } = document.documentElement.dataset
const stage = document.querySelector('main')
const frame = document.querySelector('iframe')
const say = document.getElementById('say')
const focus = (): void => frame?.focus()
const notify = openNotices(focus)

let depth = 0
let run = 0
/** The newest run whose document has begun. */
let greeted = 0
let restarts: number[] = []
const session = new Map<string, string>()

/** A window so many levels below this page: the wrapper is 0, the app stands below the relays. */
function windowAt(level: number): Window | null {
  let at = frame?.contentWindow ?? null
  for (let i = 0; i < level; i++) at = at?.[0] ?? null
  return at
}

async function answered(url: string): Promise<Response> {
  const answer = await fetch(url, { credentials: 'same-origin' })
  if (!answer.ok) throw new Error(String(answer.status))
  return answer
}

/** The app's files as blobs of their own type; one that does not come is left out. */
async function fetchFiles(): Promise<Files> {
  const list: unknown = await (await answered(`${at}/files`)).json()
  const rows = field(list, 'files')
  const files = (Array.isArray(rows) ? rows : []).map(async (row: unknown) => {
    const answer = await answered(text(row, 'url', 1_000))
    return { name: text(row, 'name', 100), blob: await answer.blob() }
  })
  const came = await Promise.allSettled(files)
  return {
    type: 'service:assets',
    files: came.flatMap((file) => (file.status === 'fulfilled' ? [file.value] : [])),
  }
}

/** Resolves once the wrapper speaks; its origin must be none, or the sandbox is not one. */
function wrapperReady(): Promise<void> {
  return new Promise((resolve, reject) => {
    addEventListener('message', ({ source, origin, data }) => {
      if (source !== frame?.contentWindow || field(data, 'type') !== 'mode') return
      if (origin !== 'null') return reject(new Error('sandbox'))
      depth = Number(field(data, 'depth'))
      resolve()
    })
    setTimeout(() => reject(new Error('frame')), waitMs)
    if (frame) frame.src = frameUrl
  })
}

/** Says that the app cannot be shown, and why; the bar goes on working. */
function fail(why: string): void {
  frame?.remove()
  if (say) say.textContent = why
}

/**
 * An app that never stops computing hears nothing of a start. Its process ends when its frame goes,
 * and only then may the page come again: a new frame would be put into the same process.
 */
function rescue(asked: number): void {
  setTimeout(() => {
    if (asked !== run || greeted === run) return
    frame?.remove()
    setTimeout(() => location.reload(), goneMs)
  }, hungMs)
}

async function open(): Promise<void> {
  const old =
    !('srcdoc' in HTMLIFrameElement.prototype) || !('SecurityPolicyViolationEvent' in window)
  if (old || !('showPopover' in HTMLElement.prototype)) {
    return fail('This browser is too old to keep an app in its sandbox. A newer one will show it.')
  }
  const page = answered(`${at}/data`).then((answer) => answer.text())
  const files = fetchFiles().catch((): Files => ({ type: 'service:assets', files: [] }))
  const [saves] = await Promise.all([openSaves(at.slice('/a/'.length)), wrapperReady()])
  const html = await page

  const start = (): void => {
    run += 1
    const local = saves.all()
    const message: Start = { type: 'start', run, html, local, session: [...session] }
    frame?.contentWindow?.postMessage(message, '*')
    focus()
  }
  /** The app went away, by a reload or by trying to leave: it begins again, thrice at most. */
  const again = (): void => {
    const now = performance.now()
    restarts = [...restarts.filter((at) => now - at < restartWindowMs), now]
    if (restarts.length <= restartsMax) start()
    else
      notify({ text: 'This app keeps leaving its own page.', label: 'Start again', press: start })
  }
  const take = async (source: MessageEventSource, data: unknown): Promise<void> => {
    const blob = field(data, 'blob')
    switch (field(data, 'type')) {
      case 'service:hello':
        greeted = Number(field(data, 'run'))
        return source.postMessage(await files, { targetOrigin: '*' })
      case 'service:save':
        return field(data, 'area') === 'local'
          ? saves.change(changesIn(field(data, 'changes')))
          : apply(session, changesIn(field(data, 'changes')))
      case 'service:link':
        return notify(linkOffer(text(data, 'href', 4_000)))
      case 'service:download':
        if (blob instanceof Blob) notify(fileOffer(text(data, 'name', 300), blob))
    }
  }
  addEventListener('message', ({ source, data }) => {
    // A document that was left says so with its last word, and has no window any more by then.
    const gone = field(data, 'type') === 'service:gone' && field(data, 'run') === run
    const app = windowAt(depth + 1)
    if (gone && (source === null || source === app)) again()
    else if (source !== null && source === app) void take(source, data)
  })
  document.getElementById('reload')?.addEventListener('click', () => {
    restarts = []
    start()
    rescue(run)
  })
  start()
}

addEventListener('focus', focus)
document.getElementById('full')?.addEventListener('click', () => {
  const turned = document.fullscreenElement ? document.exitFullscreen() : stage?.requestFullscreen()
  void Promise.resolve(turned)
    .catch(() => undefined)
    .then(focus)
})
document.addEventListener('fullscreenchange', () => {
  if (!document.fullscreenElement) return
  const title = document.querySelector('h1')?.textContent ?? ''
  notify({ text: `“${title}” by ${maker} fills the screen. Esc ends it.`, ms: 4_000 })
})
open().catch((error: unknown) => {
  const why = error instanceof Error ? error.message : ''
  fail(
    why === 'sandbox'
      ? 'This browser did not put the app into its sandbox, so it is not shown.'
      : 'The app did not come. Reloading this page may help.',
  )
})
