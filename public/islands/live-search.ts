const pauseMs = 180

/** `<live-search>`: its form is sent while one types, and what it finds changes in place. */
class LiveSearch extends HTMLElement {
  #timer = 0
  #asked = new AbortController()

  connectedCallback(): void {
    const form = this.querySelector('form')
    if (!form) return
    form.addEventListener('input', () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.#find(form), pauseMs)
    })
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      clearTimeout(this.#timer)
      void this.#find(form)
    })
  }

  async #find(form: HTMLFormElement): Promise<void> {
    const url = new URL(form.action)
    for (const [name, value] of new FormData(form)) {
      if (typeof value === 'string' && value !== '') url.searchParams.set(name, value)
    }
    this.#asked.abort()
    this.#asked = new AbortController()
    const { signal } = this.#asked
    try {
      const answer = await fetch(url, { signal, headers: { accept: 'text/html' } })
      if (!answer.ok) return
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      for (const id of ['search-status', 'search-results']) {
        const now = page.getElementById(id)
        if (now) document.getElementById(id)?.replaceChildren(...now.childNodes)
      }
      history.replaceState(null, '', url)
      document.title = page.title
    } catch {
      // Another word was typed meanwhile, or the network is gone: what is shown stays, as its name.
    }
  }
}

customElements.define('live-search', LiveSearch)
