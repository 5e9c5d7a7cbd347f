import { t } from '../words.ts'
import { fetchPage, openList, SandboxHost } from './host.ts'
import { field, text } from './messages.ts'
import { readMuted } from './muted.ts'
import type { OpenedPage, StartedApp } from './opened-page.ts'
import { takeReceived } from './received.ts'
import { readSaves } from './saves.ts'

/**
 * The first script of the page around an app: fetches the app as data and starts it in the wrapper.
 * Everything that an app does not wait for is in late.ts.
 */

/** Messages of an app that wait for late.ts. */
const waitingMax = 10_000

/** The module late.ts. */
interface Late {
  finish(page: OpenedPage): void
}

const root = document.documentElement
const { at = '', frame: frameUrl = '', maker = '', late = '', version } = root.dataset
// The preview browser shows the app alone.
const isBare = location.hash === '#bare'
if (isBare) root.dataset['bare'] = ''

const isOld = (): boolean =>
  !('srcdoc' in HTMLIFrameElement.prototype) ||
  !('SecurityPolicyViolationEvent' in window) ||
  !('showPopover' in HTMLElement.prototype)

/** Returns a function that hands over the messages of the app. */
function collectMessages(host: SandboxHost): OpenedPage['listen'] {
  const waiting: MessageEvent[] = []
  let take = (event: MessageEvent): void => {
    if (waiting.length < waitingMax) waiting.push(event)
  }
  addEventListener('message', (event) => {
    const isStart = field(event.data, 'type') === 'service:hello' && event.source === host.app
    if (isStart) root.dataset['started'] = ''
    take(event)
  })
  return (next) => {
    take = next
    for (const event of waiting.splice(0)) next(event)
  }
}

/** Fetches and starts the app. */
async function start(host: SandboxHost, id: string): Promise<StartedApp> {
  const list = openList(at)
  // Preloaded for a page that needs it.
  if ('list' in root.dataset) list().catch(() => undefined)
  const page = fetchPage(at, list)
  const { received, start } = takeReceived()
  const [saves] = await Promise.all([readSaves(id), host.load()])
  const content = { ...(await page), received }
  const isElsewhere = content.files !== undefined && text(history.state, 'page', 1) + start !== ''
  if (!isElsewhere) await host.start(content, [...saves.entries], [], [], readMuted())
  return { content, list, saves, isElsewhere, shortcut: start }
}

async function open(frame: HTMLIFrameElement): Promise<void> {
  const host = new SandboxHost(frame, frameUrl)
  const listen = collectMessages(host)
  const focus = (): void => frame.focus()
  const fail = (why: string): void => {
    frame.remove()
    document.getElementById('poster')?.remove()
    const status = document.getElementById('status')
    if (status) status.textContent = why
  }
  // A copy has the saves of its app.
  const id = at.slice('/a/'.length).replace('/offline', '')
  let app: StartedApp | undefined
  try {
    if (isOld()) throw new Error('old')
    app = await start(host, id)
    focus()
  } catch (error) {
    const why = error instanceof Error ? error.message : ''
    fail(reasons.get(why) ?? unknownReason)
  }
  const shown = isBare ? 0 : Number(version)
  // Another server of an upgrade may have the module.
  const loaded: Promise<Late> = import(late).catch(() => import(`${late}?again`))
  const { finish } = await loaded
  finish({ at, id, maker, version: shown, host, app, focus, fail, listen })
}

const reasons = new Map([
  ['old', t('This browser is too old for the sandbox. Open the app in a newer browser.')],
  ['sandbox', t('This browser did not apply the sandbox, so the app is not shown.')],
])
const unknownReason = t('The app did not load. Reload this page to try again.')

const frame = document.querySelector('iframe')
if (frame) void open(frame)
