/** The page that installs an app. A browser that can offers its dialog; others need their menu. */

/** The dialog of a browser (https://wicg.github.io/manifest-incubations/). */
interface InstallDialog extends Event {
  prompt(): Promise<unknown>
}

const isDialog = (event: Event): event is InstallDialog => 'prompt' in event

const button = document.getElementById('install')
const help = document.getElementById('help')
const done = document.getElementById('done')
let dialog: InstallDialog | undefined

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
  if (done) done.textContent = 'Installed. Open it from your home screen or your apps.'
  if (help) help.hidden = true
})

export {}
