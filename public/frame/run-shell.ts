import { openBar } from './bar.ts'
import { fetchList, fetchPage, SandboxHost } from './host.ts'
import { type DialogResult, field, type PageContent, type Sound } from './messages.ts'
import { watchVersions } from './new-versions.ts'
import { type Offer, openNotices } from './notices.ts'
import { receiver } from './receiver.ts'
import { openDatabases } from './saved-databases.ts'
import { openSaves } from './saves.ts'
import { sentErrors } from './sent-errors.ts'

/** The page around an app: fetches the app as data, passes it to the wrapper, runs the toolbar. */
const restartsMax = 3
const restartWindowMs = 10_000
const hungMs = 4_000
const goneMs = 500

const data = document.documentElement.dataset
const { at = '', frame: frameUrl = '', maker = '' } = data
/** The version that this page shows; 0 in the preview browser. */
const version = location.hash === '#bare' ? 0 : Number(data['version'])
const failed = sentErrors(at.split('/')[2] ?? '', version)
const stage = document.querySelector('main')
const frame = document.querySelector('iframe')
const status = document.getElementById('status')
const focus = (): void => frame?.focus()
const notify = openNotices(focus)
const bar = openBar(() => {
  tellSound()
  focus()
})

const host = frame && new SandboxHost(frame, frameUrl)
/** The newest run whose document has started. */
let greeted = 0
let restarts: number[] = []
const session = new Map<string, string>()
let answers: DialogResult[] = []

function tellSound(): void {
  const message: Sound = { type: 'service:sound', isMuted: bar.isMuted() }
  host?.app?.postMessage(message, '*')
}

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

/** Ends an app that is no longer open to this browser. A reload shows why. */
function leave(): void {
  fail('This app is closed. Reload the page to see why.')
}

/** The part of the shell that is for apps in a folder. */
interface Folder {
  /** Starts the page that the history names. */
  open(): Promise<void>
  /** The page is left, perhaps for another one of its folder. */
  leave(): void
  /** A page starts. */
  stay(): void
  /** Handles a message of the app. Returns false for one that is not about its pages. */
  take(data: unknown, run: number | undefined): boolean
}

/** The shell as a folder uses it. */
export interface FolderShell {
  first: PageContent
  /** The list of its files. */
  list: unknown
  show(content: PageContent): void
  /** Restarts a page that reloaded or navigated away. */
  again(): void
  notify(offer: Offer): void
}

type OpenFolder = (shell: FolderShell) => Folder

const isOld = (): boolean =>
  !('srcdoc' in HTMLIFrameElement.prototype) ||
  !('SecurityPolicyViolationEvent' in window) ||
  !('showPopover' in HTMLElement.prototype)

async function open(openFolder: OpenFolder | undefined): Promise<void> {
  if (isOld()) {
    return fail('This browser is too old for the sandbox. Open the app in a newer browser.')
  }
  const list = fetchList(at)
  const page = fetchPage(at, list)
  const id = at.slice('/a/'.length)
  const [saves] = await Promise.all([openSaves(id), host?.load()])
  const first = await page
  let content = first

  const start = (): void => {
    folder?.stay()
    host?.start(content, saves.all(), [...session], answers, bar.isMuted())
    focus()
  }
  /** Restarts an app that reloaded or navigated away, three times at most. */
  const again = (): void => {
    const now = performance.now()
    restarts = [...restarts.filter((at) => now - at < restartWindowMs), now]
    if (restarts.length <= restartsMax) start()
    else notify({ text: 'This app keeps leaving.', label: 'Restart', press: start })
  }
  const show = (next: PageContent): void => {
    content = next
    start()
  }
  const folder = openFolder?.({ first, list: await list, show, again, notify })
  const take = receiver({
    saves,
    openDatabases: () => openDatabases(id),
    session,
    started(run) {
      greeted = run
      // A press between the start and the first message reached no document.
      tellSound()
      bar.started()
    },
    answered: (given) => void (answers = given),
    failed,
    notify,
  })
  addEventListener('message', ({ source, data }) => {
    const app = host?.app ?? null
    // The last message of an unloaded document has no source window.
    const isFrom = source === null || source === app
    const gone = field(data, 'type') === 'service:gone' && field(data, 'run') === host?.run
    if (gone && isFrom) (folder?.leave ?? again)()
    else if (source !== null && isFrom && !folder?.take(data, host?.run)) void take(source, data)
  })
  document.getElementById('reload')?.addEventListener('click', async () => {
    restarts = []
    answers = []
    await host?.letSave()
    start()
    if (host) rescue(host.run)
  })
  if (folder) await folder.open()
  else start()
}

/** Turns full screen on or off. A browser without it, as on an iPhone, still loses our bar. */
function turnFullScreen(): void {
  const turned = document.fullscreenElement
    ? document.exitFullscreen()
    : stage?.requestFullscreen?.()
  if (turned) return void turned.catch(() => undefined).then(focus)
  bar.hide()
  notify({ text: 'Add it to the home screen to play without bars.', ms: 6_000 })
}

/** Runs the shell. `openFolder` is for apps with files. */
export function runShell(openFolder?: OpenFolder): void {
  addEventListener('focus', focus)
  document.getElementById('full')?.addEventListener('click', turnFullScreen)
  document.addEventListener('fullscreenchange', () => {
    if (!document.fullscreenElement) return
    const title = document.querySelector('h1')?.textContent ?? ''
    notify({ text: `“${title}” by ${maker} is full screen. Press Esc to exit.`, ms: 4_000 })
  })
  // A preview stays at its version.
  const isWatched = version > 0 && !at.includes('/versions/')
  const watch = (): void => {
    if (isWatched)
      watchVersions({ at, version, notify, save: async () => host?.letSave(), close: leave })
  }
  open(openFolder).then(watch, (error: unknown) => {
    document.getElementById('poster')?.remove()
    const why = error instanceof Error ? error.message : ''
    fail(
      why === 'sandbox'
        ? 'This browser did not apply the sandbox, so the app is not shown.'
        : 'The app did not load. Reload this page to try again.',
    )
  })
}
