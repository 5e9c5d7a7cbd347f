/** `<play-here>`: replaces a poster by the app in a frame, and returns with "Stop". */
class PlayHere extends HTMLElement {
  connectedCallback(): void {
    const poster = this.querySelector('a')
    poster?.addEventListener('click', (event) => {
      const hasModifier = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
      if (hasModifier) return
      event.preventDefault()
      this.#play(poster)
    })
  }

  #play(poster: HTMLAnchorElement): void {
    const frame = document.createElement('iframe')
    frame.src = poster.href
    frame.title = this.dataset['title'] ?? ''
    frame.allow = 'fullscreen; gamepad; autoplay'
    const stop = document.createElement('button')
    stop.type = 'button'
    stop.className = 'button quiet slim'
    stop.textContent = 'Stop'
    stop.addEventListener('click', () => {
      this.replaceChildren(poster)
      poster.focus()
    })
    this.replaceChildren(frame, stop)
    frame.focus()
  }
}

customElements.define('play-here', PlayHere)
