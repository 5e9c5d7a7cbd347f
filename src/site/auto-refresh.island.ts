const second = 1_000

/**
 * `<auto-refresh data-seconds="5">`: reloads its content while the page is visible. With another
 * `data-state` the whole page changed, and is loaded again.
 */
class AutoRefresh extends HTMLElement {
  #timer = 0

  connectedCallback(): void {
    const seconds = Number(this.dataset['seconds'] ?? 5)
    this.#timer = setInterval(() => void this.#refresh(), seconds * second)
  }

  disconnectedCallback(): void {
    clearInterval(this.#timer)
  }

  async #refresh(): Promise<void> {
    const isUsed = (): boolean =>
      // Content with the focus stays, so that a button does not move under the pointer.
      this.contains(document.activeElement) ||
      // The values under the pointer stay, too.
      this.querySelector('time-chart:hover, tr:hover a') !== null
    const { state } = this.dataset
    if (document.hidden || (state === undefined && isUsed())) return
    try {
      const response = await fetch(location.href, { headers: { accept: 'text/html' } })
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      const now = page.querySelector<HTMLElement>('auto-refresh')
      if (!now || now.dataset['state'] !== state) return location.reload()
      if (isUsed()) return
      // A table that was opened stays open.
      const opened = [...this.querySelectorAll('details')].map((one) => one.open)
      now.querySelectorAll('details').forEach((one, at) => (one.open = opened[at] ?? one.open))
      // So does a value that was typed.
      for (const typed of this.querySelectorAll('input')) {
        if (typed.value === typed.defaultValue) continue
        const same = now.querySelector<HTMLInputElement>(`input[name="${typed.name}"]`)
        if (same) same.value = typed.value
      }
      this.replaceChildren(...now.childNodes)
    } catch {
      // The network failed: keep the content and try again later.
    }
  }
}

customElements.define('auto-refresh', AutoRefresh)
