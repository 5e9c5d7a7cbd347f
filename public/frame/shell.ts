import { openBar } from './bar.ts'
import { fetchFiles, fetchList, fetchPage, SandboxHost } from './host.ts'
import { field, type Files, text } from './messages.ts'
import { openNotices } from './notices.ts'
import { fileOffer, linkOffer } from './offers.ts'
import { apply, changesIn, openSaves } from './saves.ts'

/** The page around an app: fetches the app as data, passes it to the wrapper, runs the toolbar. */
const restartsMax = 3
const restartWindowMs = 10_000
const hungMs = 4_000
const goneMs = 500

const { at = '', frame: frameUrl = '', maker = '' } = document.documentElement.dataset
const stage = document.querySelector('main')
const frame = document.querySelector('iframe')
const status = document.getElementById('status')
const focus = (): void => frame?.focus()
const notify = openNotices(focus)
const bar = openBar()

const host = frame && new SandboxHost(frame, frameUrl)
/** The newest run whose document has started. */
let greeted = 0
let restarts: number[] = []
const session = new Map<string, string>()

/** Shows why the app cannot be opened. The toolbar keeps working. */
function fail(why: string): void {
  frame?.remove()
  if (status) status.textContent = why
}

/**
 * Restarts an app in an endless loop, which receives no messages. Its process ends with its frame,
 * so the page reloads only then: a new frame would share the process.
 */
function rescue(requested: number): void {
  setTimeout(() => {
    if (requested !== host?.run || greeted === requested) return
    frame?.remove()
    setTimeout(() => location.reload(), goneMs)
  }, hungMs)
}

async function open(): Promise<void> {
  const old =
    !('srcdoc' in HTMLIFrameElement.prototype) || !('SecurityPolicyViolationEvent' in window)
  if (old || !('showPopover' in HTMLElement.prototype)) {
    return fail('This browser is too old for the sandbox. Open the app in a newer browser.')
  }
  const list = fetchList(at)
  const page = fetchPage(at, list)
  const files = list.then(fetchFiles).catch((): Files => ({ type: 'service:assets', files: [] }))
  const [saves] = await Promise.all([openSaves(at.slice('/a/'.length)), host?.load()])
  const content = await page

  const start = (): void => {
    host?.start(content, saves.all(), [...session])
    focus()
  }
  /** Restarts an app that reloaded or navigated away, three times at most. */
  const again = (): void => {
    const now = performance.now()
    restarts = [...restarts.filter((at) => now - at < restartWindowMs), now]
    if (restarts.length <= restartsMax) start()
    else notify({ text: 'This app keeps navigating away.', label: 'Restart', press: start })
  }
  const take = async (source: MessageEventSource, data: unknown): Promise<void> => {
    const blob = field(data, 'blob')
    switch (field(data, 'type')) {
      case 'service:hello':
        greeted = Number(field(data, 'run'))
        bar.started()
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
    // The last message of an unloaded document has no source window.
    const gone = field(data, 'type') === 'service:gone' && field(data, 'run') === host?.run
    const app = host?.app ?? null
    if (gone && (source === null || source === app)) again()
    else if (source !== null && source === app) void take(source, data)
  })
  document.getElementById('reload')?.addEventListener('click', () => {
    restarts = []
    start()
    if (host) rescue(host.run)
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
  notify({ text: `“${title}” by ${maker} is full screen. Press Esc to exit.`, ms: 4_000 })
})
open().catch((error: unknown) => {
  document.getElementById('poster')?.remove()
  const why = error instanceof Error ? error.message : ''
  fail(
    why === 'sandbox'
      ? 'This browser did not apply the sandbox, so the app is not shown.'
      : 'The app did not load. Reload this page to try again.',
  )
})
