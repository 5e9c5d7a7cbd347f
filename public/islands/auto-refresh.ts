const second = 1_000

/** `<auto-refresh data-seconds="5">`: drawn again from its own page, while somebody looks. */
class AutoRefresh extends HTMLElement {
  #timer = 0

  connectedCallback(): void {
    const seconds = Number(this.dataset['seconds'] ?? 5)
    this.#timer = setInterval(() => void this.#draw(), seconds * second)
  }

  disconnectedCallback(): void {
    clearInterval(this.#timer)
  }

  async #draw(): Promise<void> {
    // Nothing changes under the hands of who is about to press something.
    if (document.hidden || this.contains(document.activeElement)) return
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const now = page.querySelector('auto-refresh')
      if (now) this.replaceChildren(...now.childNodes)
      else location.reload()
    } catch {
      // The network is gone: what is shown stays, and the next round asks again.
    }
  }
}

customElements.define('auto-refresh', AutoRefresh)
