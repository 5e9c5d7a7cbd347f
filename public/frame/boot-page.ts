import { absent } from './absent.ts'
import { openAssets } from './assets.ts'
import { logBlockedRequest } from './blocked-requests.ts'
import { clipboard } from './clipboard.ts'
import { dialogs } from './dialogs.ts'
import { guard, lock } from './guard.ts'
import { inChat } from './in-chat.ts'
import { takeKeys } from './keys.ts'
import { leaving } from './leaving.ts'
import { bases, fragments, type GoInFolder, histories, links } from './links.ts'
import { listen, outliveOpening } from './listen.ts'
import type { AppMessage, OwnFiles, Run } from './messages.ts'
import { pageErrors } from './page-errors.ts'
import { quiet } from './quiet.ts'
import { quirks } from './quirks.ts'
import { openReceived } from './received.ts'
import { recording } from './recording.ts'
import { shellAbove } from './shell-window.ts'
import { sound } from './sound.ts'
import { openStorage } from './storage.ts'
import { viewerFeatures } from './viewer-features.ts'
import { workers } from './workers.ts'

/** Boot script: runs in the app's document before its first byte, and then removes itself. */
const networkApis = [
  'RTCPeerConnection',
  'webkitRTCPeerConnection',
  'mozRTCPeerConnection',
  'RTCIceGatherer',
  'RTCIceTransport',
  'RTCDtlsTransport',
  'WebTransport',
  'fetchLater',
]

/** The part of the boot script that is for pages with files. */
export interface FilesBoot {
  goInFolder(files: OwnFiles, tell: (message: AppMessage) => void): GoInFolder
  /** Runs near the end of the boot script. Returns its last step, if there is one. */
  start(
    files: OwnFiles,
    needsFallback: boolean,
    tell: (message: AppMessage) => void,
  ): (() => void) | undefined
}

function boot(run: Run, shell: Window, files: FilesBoot | undefined): void {
  const post = shell.postMessage.bind(shell)
  const tell = (message: AppMessage): void => post({ ...message, run: run.run }, '*')
  for (const name of networkApis) lock(window, name, undefined)
  if (run.needsFallback) guard()
  workers(run.needsFallback, pageErrors(run, tell))
  const { received } = run
  const service = Object.freeze({
    assets: openAssets(run.files),
    ...(received && { received: openReceived(received) }),
  })
  // Configurable, so that a page can declare its own `service`.
  const kept = { enumerable: true, configurable: true }
  Object.defineProperty(window, 'service', { value: service, ...kept })
  openStorage(run, (area, changes) => tell({ type: 'service:save', area, changes }))
  quiet()
  absent()
  logBlockedRequest()
  clipboard()
  viewerFeatures(tell)
  sound(shell, run.isMuted)
  recording(shell)
  if (run.surroundings) inChat(run.surroundings, tell)
  dialogs(run, (answers) => {
    tell({ type: 'service:answers', answers })
    location.reload()
  })
  links(tell, run.needsFallback, run.files && files?.goInFolder(run.files, tell))
  fragments()
  histories()
  bases()
  takeKeys()
  if (run.quirks) quirks()
  const write = run.files && files?.start(run.files, run.needsFallback, tell)
  outliveOpening()
  leaving(shell)
  // The app gets the key as any other, and the viewer brings back its bar.
  listen('keydown', (event) => event.key === 'Escape' && tell({ type: 'service:escape' }))
  listen('pagehide', (event) => event.isTrusted && tell({ type: 'service:gone' }))
  tell({ type: 'service:hello' })
  write?.()
}

const script = document.currentScript

/** Runs the boot script. `files` is for pages with files. */
export function bootPage(files?: FilesBoot): void {
  script?.remove()
  if (!script) return
  const run: Run = JSON.parse(script.dataset['run'] ?? '')
  const shell = shellAbove(run.depth)
  // The document of the wrapper runs this once, however it was loaded. WebKit has no entry of the
  // newer interface while it parses the page.
  if (run.depth === 0 || !performance.navigation.type) return boot(run, shell, files)
  // After location.reload() the same text runs again with outdated saves. The shell creates a new
  // frame, so this one must not start.
  shell.postMessage({ type: 'service:reloaded', run: run.run }, '*')
  window.stop()
}
