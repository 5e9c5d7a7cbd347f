/**
 * The page that installs an app. A browser that can offers its dialog; others need their menu.
 * Where the app has a copy, the page has it saved first.
 */
import { t } from '../words.ts'
import { registerWorker } from './copy-worker.ts'

/** The dialog of a browser (https://wicg.github.io/manifest-incubations/). */
interface InstallDialog extends Event {
  prompt(): Promise<unknown>
}

const isDialog = (event: Event): event is InstallDialog => 'prompt' in event

const button = document.getElementById('install')
const help = document.getElementById('help')
const done = document.getElementById('done')
const copied = document.getElementById('copied')
let dialog: InstallDialog | undefined

// Only Safari on iPhone and iPad has this property, whose menu comes first.
const others = 'standalone' in navigator ? [...(help?.children ?? [])].slice(1) : []
for (const item of others) item.remove()

addEventListener('beforeinstallprompt', (event) => {
  if (!isDialog(event) || !button || !help) return
  event.preventDefault()
  dialog = event
  button.hidden = false
  help.hidden = true
})
// A browser shows each dialog once, and offers another after it was closed.
button?.addEventListener('click', () => {
  button.hidden = true
  if (help) help.hidden = false
  void dialog?.prompt().catch(() => undefined)
})
addEventListener('appinstalled', () => {
  if (done) done.textContent = t('Installed. Open it from your home screen or your apps.')
  if (help) help.hidden = true
})

/** Saves the copy of the app, which opens without a network. */
async function saveCopy(status: HTMLElement): Promise<void> {
  // Private windows and plain HTTP have no workers.
  if (!('serviceWorker' in navigator)) return
  const at = location.pathname.replace(/\/install$/, '')
  status.textContent = t('Saving a copy for offline use …')
  try {
    const { installing } = await registerWorker(at)
    await new Promise((resolve, reject) => {
      void navigator.serviceWorker.ready.then(resolve)
      installing?.addEventListener('statechange', () => {
        if (installing.state === 'redundant') reject(new Error('no copy'))
      })
    })
    status.textContent = t('A copy is saved. It opens offline.')
  } catch {
    status.textContent = t('No copy could be saved. It needs the network.')
  }
}
if (copied) void saveCopy(copied)
