/**
 * The second script of the page around an app. It is loaded after the app has started, so that
 * nothing in it delays the app. New features of the page are functions in `parts`.
 */
import { openBar } from './bar.ts'
import { saveInstalled } from './copy-worker.ts'
import { fullScreen } from './full-screen.ts'
import type { Sound } from './messages.ts'
import { moments } from './moments.ts'
import { newVersions } from './new-versions.ts'
import { openNotices } from './notices.ts'
import type { OpenedPage, Shell } from './opened-page.ts'
import { runApp } from './run-app.ts'

/** The style of what is shown only from now on, as text (scripts/build-public.ts). */
declare const lateStyle: string

function addStyle(): void {
  const style = new CSSStyleSheet()
  style.replaceSync(lateStyle)
  document.adoptedStyleSheets.push(style)
}

/** The features of the page, in the order in which they start. */
const parts: ((shell: Shell) => void)[] = [fullScreen, runApp, moments, newVersions, saveInstalled]

/** Takes the page over from shell.ts. */
export function finish(page: OpenedPage): void {
  const { host, focus } = page
  addStyle()
  // In Firefox a press in an open menu brings the focus to this page first.
  addEventListener('focus', () => document.querySelector('[popover=""]:popover-open') ?? focus())
  const notify = openNotices(focus)
  const bar = openBar(() => {
    const message: Sound = { type: 'service:sound', isMuted: bar.isMuted() }
    host.app?.postMessage(message, '*')
    focus()
  })
  for (const start of parts) start({ ...page, bar, notify })
}
