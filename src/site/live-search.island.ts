const pauseMs = 180

/**
 * `<live-search>`: submits its form while typing and updates the results in place. A search that is
 * typed in one go is one entry in the history, so that Back returns to the results before it.
 */
class LiveSearch extends HTMLElement {
  #timer = 0
  #request = new AbortController()
  /** The URL of the results that are shown. */
  #shown = location.href
  #isTyping = false

  connectedCallback(): void {
    const form = this.querySelector('form')
    if (!form) return
    form.addEventListener('input', () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.#search(form), pauseMs)
    })
    form.addEventListener('change', () => {
      this.#isTyping = false
    })
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      clearTimeout(this.#timer)
      void this.#search(form)
    })
    addEventListener('popstate', () => void this.#goBack(form))
  }

  async #search(form: HTMLFormElement): Promise<void> {
    const url = new URL(form.action)
    for (const [name, value] of new FormData(form)) {
      if (typeof value === 'string' && value !== '') url.searchParams.set(name, value)
    }
    if (url.href === this.#shown || !(await this.#show(url.href))) return
    if (this.#isTyping) history.replaceState(null, '', url)
    else history.pushState(null, '', url)
    this.#isTyping = form.contains(document.activeElement)
  }

  /** Shows the fields and results of the history entry. A fragment alone changes no results. */
  async #goBack(form: HTMLFormElement): Promise<void> {
    const { href, pathname, search, searchParams } = new URL(location.href)
    const shown = new URL(this.#shown)
    if (shown.pathname + shown.search === pathname + search) return
    clearTimeout(this.#timer)
    this.#isTyping = false
    for (const field of form.elements) {
      const isField = field instanceof HTMLInputElement || field instanceof HTMLSelectElement
      if (isField) field.value = searchParams.get(field.name) ?? ''
    }
    if (!(await this.#show(href))) location.reload()
  }

  /** Replaces the results by those of a URL. Returns false if a newer search replaced this one. */
  async #show(href: string): Promise<boolean> {
    this.#request.abort()
    this.#request = new AbortController()
    const { signal } = this.#request
    try {
      const response = await fetch(href, { signal, headers: { accept: 'text/html' } })
      if (!response.ok) return false
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      for (const id of ['search-status', 'search-results']) {
        const update = page.getElementById(id)
        if (update) document.getElementById(id)?.replaceChildren(...update.childNodes)
      }
      document.title = page.title
      this.#shown = href
      return true
    } catch {
      // The network failed: keep the results.
      return false
    }
  }
}

customElements.define('live-search', LiveSearch)
