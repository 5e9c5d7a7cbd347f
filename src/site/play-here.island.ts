import { t } from '../../public/words.ts'
/** The width at which apps run in place. A narrower page shows them smaller, and never cut. */
const appWidth = 960
/** Below this width, an app in place would be too small to play. Its link has all pixels. */
const small = matchMedia('(max-width: 639px)')

/**
 * `<play-here>`: replaces a poster by the app in a frame, with full screen and "Stop" below it. On
 * a phone the link of the poster opens the app instead.
 */
class PlayHere extends HTMLElement {
  readonly #sizes = new ResizeObserver(() => {
    const scale = Math.min(1, this.clientWidth / appWidth)
    this.style.setProperty('--scale', String(scale))
  })

  connectedCallback(): void {
    const poster = this.querySelector('a')
    poster?.addEventListener('click', (event) => {
      const hasModifier = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
      if (hasModifier || small.matches) return
      event.preventDefault()
      this.#play(poster)
    })
  }

  disconnectedCallback(): void {
    this.#sizes.disconnect()
  }

  #play(poster: HTMLAnchorElement): void {
    const frame = document.createElement('iframe')
    frame.src = poster.href
    frame.title = this.dataset['title'] ?? ''
    frame.allow = 'fullscreen; gamepad; autoplay'
    const screen = document.createElement('div')
    screen.className = 'screen'
    screen.append(frame)
    const full = createButton(t('Full screen'), () => {
      const isOpen = frame.requestFullscreen?.()
      // Without the API, the link has the whole window.
      if (!isOpen) location.assign(poster.href)
      void isOpen?.then(() => frame.focus()).catch(() => location.assign(poster.href))
    })
    const stop = createButton(t('Stop'), () => {
      this.#sizes.disconnect()
      this.replaceChildren(poster)
      poster.focus()
    })
    const controls = document.createElement('p')
    controls.append(full, stop)
    this.replaceChildren(screen, controls)
    this.#sizes.observe(this)
    frame.focus()
    showRating()
  }
}

/** Shows the form that rates an item: this browser has opened it. */
function showRating(): void {
  document.getElementById('rate')?.removeAttribute('hidden')
  document.getElementById('rate-first')?.remove()
}

// The way back from the link of the app shows the page as it was before.
addEventListener('pageshow', ({ persisted }) => void (persisted && showRating()))

// A press on a star rates an item at once, and a review can follow. Keys choose first.
document.querySelector('[data-first] .rate')?.addEventListener('click', (event) => {
  const star = event.target
  const isPress = event instanceof MouseEvent && event.detail > 0
  if (isPress && star instanceof HTMLInputElement) star.form?.requestSubmit()
})

function createButton(label: string, press: () => void): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button quiet slim'
  button.textContent = label
  button.addEventListener('click', press)
  return button
}

customElements.define('play-here', PlayHere)
