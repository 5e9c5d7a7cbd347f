/** A new app arrives within this time. Boats that have not changed are not sent again. */
const refreshMs = 20_000
const [sunrise, sunset] = [7, 19]

/**
 * `<live-quay>`: lights the lamps by the local clock, and lets boats of new apps arrive while the
 * page is visible.
 */
class LiveQuay extends HTMLElement {
  #timer = 0
  /** The boats that were loaded last. */
  #shown = ''

  connectedCallback(): void {
    this.#setTime()
    this.#timer = setInterval(() => void this.#update(), refreshMs)
  }

  disconnectedCallback(): void {
    clearInterval(this.#timer)
  }

  #setTime(): void {
    const hour = new Date().getHours()
    this.dataset['time'] = hour >= sunrise && hour < sunset ? 'day' : 'night'
  }

  async #update(): Promise<void> {
    this.#setTime()
    const list = this.querySelector('.pier ul')
    const { source } = this.dataset
    // A boat with the focus stays where it is.
    if (!list || !source || document.hidden || list.contains(document.activeElement)) return
    try {
      const response = await fetch(source, { headers: { accept: 'text/html' } })
      const text = response.ok ? await response.text() : ''
      if (text === '' || text === this.#shown) return
      this.#shown = text
      const page = new DOMParser().parseFromString(text, 'text/html')
      const known = new Set([...list.children].map((one) => one.getAttribute('data-id')))
      const boats = [...page.querySelectorAll('li')]
      if (boats.length === 0) return
      for (const one of boats)
        one.classList.toggle('arriving', !known.has(one.getAttribute('data-id')))
      list.replaceChildren(...boats)
    } catch {
      // The network failed: the boats stay.
    }
  }
}

customElements.define('live-quay', LiveQuay)
