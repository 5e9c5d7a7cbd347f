const pauseMs = 180

/** `<live-search>`: submits its form while typing and updates the results in place. */
class LiveSearch extends HTMLElement {
  #timer = 0
  #request = new AbortController()

  connectedCallback(): void {
    const form = this.querySelector('form')
    if (!form) return
    form.addEventListener('input', () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.#search(form), pauseMs)
    })
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      clearTimeout(this.#timer)
      void this.#search(form)
    })
  }

  async #search(form: HTMLFormElement): Promise<void> {
    const url = new URL(form.action)
    for (const [name, value] of new FormData(form)) {
      if (typeof value === 'string' && value !== '') url.searchParams.set(name, value)
    }
    this.#request.abort()
    this.#request = new AbortController()
    const { signal } = this.#request
    try {
      const response = await fetch(url, { signal, headers: { accept: 'text/html' } })
      if (!response.ok) return
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      for (const id of ['search-status', 'search-results']) {
        const update = page.getElementById(id)
        if (update) document.getElementById(id)?.replaceChildren(...update.childNodes)
      }
      history.replaceState(null, '', url)
      document.title = page.title
    } catch {
      // A newer search replaced this one, or the network failed: keep the results.
    }
  }
}

customElements.define('live-search', LiveSearch)
