/**
 * The view of an app in a chat (MCP Apps, 2026-01-26). It is the same page for all apps: it holds
 * its app, or gets the one that a tool call names. The app runs in the sandbox of the viewer, and
 * its calls go to the server by tools for apps alone, as the caller of the chat.
 */
import { findPlayer } from '../bridge/agreement.ts'
import { aiCalls } from '../bridge/ai-calls.ts'
import { challengeCalls } from '../bridge/challenge-calls.ts'
import { dbCalls, fileCalls } from '../bridge/db-calls.ts'
import { serveCalls } from '../bridge/receiver.ts'
import { scoreCalls } from '../bridge/score-calls.ts'
import { setSend } from '../bridge/server.ts'
import { storeCalls } from '../bridge/store-calls.ts'
import { field, text } from '../frame/messages.ts'
import { openNotices } from '../frame/notices.ts'
import { t } from '../words.ts'
import { type AppContent, isAppContent } from './app-content.ts'
import { ChatHost } from './chat-host.ts'
import { HostContext } from './host-context.ts'
import { polledCalls } from './polled-calls.ts'
import { RunningApp } from './running-app.ts'
import { AppTools } from './tools.ts'
import { ViewSize } from './view-size.ts'

const protocolVersion = '2026-01-26'
const pollMs = 3_000
/** Builds end within ten minutes. */
const pollsMax = 240

const host = new ChatHost(window.parent)
const tools = new AppTools(host)
const size = new ViewSize(host)
const context = new HostContext(host, size)
const status = document.getElementById('status')
const button = (id: string): HTMLElement | null => document.getElementById(id)
let opened: RunningApp | undefined
/** The app that is open, or about to be. A view has one. */
let current = ''

const notify = openNotices(
  () => document.querySelector('iframe')?.focus(),
  (url) => void openLink(url),
)

const openLink = (url: string): Promise<unknown> =>
  host
    .request('ui/open-link', { url })
    .catch(() => notify({ text: t('The chat did not open {url}', { url }) }))

function showStatus(message: string): void {
  if (status) status.textContent = message
}

/** Waits for the first build of an app, and then returns the app. */
async function fetchApp(id: string): Promise<AppContent | undefined> {
  for (let polls = 0; polls < pollsMax; polls += 1) {
    const found = await tools.call('open_app_page', { id })
    if (isAppContent(found)) return found
    const percent = Math.round(100 * Number(field(found, 'progress')))
    showStatus(t('Being built: {percent} %', { percent }))
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return undefined
}

async function open(app: AppContent): Promise<void> {
  current = app.id
  tools.takePass(app.pass)
  document.documentElement.dataset['maker'] = app.maker
  const [title, maker] = document.querySelectorAll('#who > *')
  if (title) title.textContent = app.title
  if (maker) maker.textContent = app.maker
  showStatus('')
  const running = new RunningApp(app, { context, size, notify, openLink })
  opened = running
  serveCalls(app.id, () => running.window, {
    ...aiCalls,
    ...storeCalls,
    ...dbCalls,
    ...fileCalls,
    ...scoreCalls,
    ...challengeCalls,
    ...polledCalls,
  })
  const player = await findPlayer({ app: app.id }).catch(() => undefined)
  await running.open(player?.isSignedIn === true)
}

/** Shows why there is no app here. */
function fail(error: unknown): void {
  const why = error instanceof Error ? error.message : ''
  showStatus(
    why === 'sandbox' ? t('The chat did not apply the sandbox, so the app is not shown.') : why,
  )
  current = ''
}

/** Returns the value of a tool result, which some hosts pass on as its text alone. */
function valueOf(result: unknown): unknown {
  const value = field(result, 'structuredContent')
  if (value !== undefined) return value
  const content = field(result, 'content')
  try {
    return JSON.parse(text(Array.isArray(content) ? content[0] : undefined, 'text', 1_048_576))
  } catch {
    return undefined
  }
}

/** Opens the app of a tool result: a tool that publishes names it only there. */
async function takeResult(result: unknown): Promise<void> {
  const value = valueOf(result)
  if (current !== '') return
  if (field(result, 'isError') === true) throw new Error(text(value, 'error', 1_000))
  current = text(field(value, 'app'), 'id', 40)
  if (current === '') return showStatus(t('This result has no app to show.'))
  showStatus(t('Opening the app …'))
  const app = await fetchApp(current)
  if (app) await open(app)
}

async function start(): Promise<void> {
  setSend((request) => tools.send(request))
  host.on('ui/notifications/tool-input', (params) => {
    tools.key = text(field(params, 'arguments'), 'key', 200) || undefined
  })
  host.on('ui/notifications/tool-result', (result) => void takeResult(result).catch(fail))
  host.on('ui/notifications/tool-cancelled', () => {
    if (current === '') showStatus(t('The call was canceled.'))
  })
  host.handle('ui/resource-teardown', async () => {
    await opened?.leave()
    return {}
  })
  button('reload')?.addEventListener('click', () => void opened?.restart())
  button('page')?.addEventListener('click', () => opened && void openLink(opened.link))
  const result = await host.request('ui/initialize', {
    appInfo: { name: 'Berth', version: '1' },
    appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
    protocolVersion,
  })
  context.take(field(result, 'hostContext'))
  host.notify('ui/notifications/initialized')
  size.send()
  const embedded: unknown = JSON.parse(document.getElementById('app')?.textContent || 'null')
  if (isAppContent(embedded)) await open(embedded)
}

start().catch(fail)
