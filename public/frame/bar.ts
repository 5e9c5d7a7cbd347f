import { readMuted, storeMuted } from './muted.ts'
import { openSharing } from './sharing.ts'

const hideMs = 3_000
/** A timer this late ran in a page that an app blocked. */
const lateMs = 500

const root = document.documentElement

export interface Bar {
  started(): void
  /** Shows it until the app is played on. */
  show(): void
  /** Leaves the app all pixels of the window at once. */
  hide(): void
  isMuted(): boolean
}

/** The bar above the app: hides while one plays, turns the sound off, and shares the link. */
export function openBar(onSound: () => void): Bar {
  let timer = 0
  const hide = (): void => void (root.dataset['playing'] = '')
  const show = (): void => {
    delete root.dataset['playing']
    clearTimeout(timer)
    const due = performance.now() + hideMs
    // Engines that run the app in this process deliver clicks on the bar only after the timer.
    const rest = (): void => (performance.now() > due + lateMs ? show() : hide())
    timer = window.setTimeout(rest, hideMs)
  }
  const edge = document.getElementById('edge')
  // A finger enters, too. Its press ends where the bar is by then, and opens nothing of it.
  edge?.addEventListener('pointerenter', show)
  edge?.addEventListener('touchend', (event) => event.preventDefault())
  addEventListener('keydown', ({ key }) => void (key === 'Escape' && show()))
  openSharing()
  // A press in the app closes no menu of this page.
  addEventListener('blur', () => document.getElementById('menu')?.hidePopover?.())
  return {
    isMuted: openSound(onSound),
    show,
    hide,
    started: () => {
      // An app in a frame of another page starts without the bar.
      if (self === top) show()
      else hide()
    },
  }
}

/** The sound button. The choice is stored for the next app. */
function openSound(onSound: () => void): () => boolean {
  const button = document.getElementById('sound')
  let isMuted = readMuted()
  const show = (): void => button?.setAttribute('aria-pressed', String(isMuted))
  button?.addEventListener('click', () => {
    isMuted = !isMuted
    storeMuted(isMuted)
    show()
    onSound()
  })
  show()
  return () => isMuted
}
