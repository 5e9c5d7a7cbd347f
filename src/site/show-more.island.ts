/** Tiles are appended before one reaches the end of the list. */
const ahead = '600px'

/**
 * `<show-more>`: "Show more" appends the next tiles of a list instead of loading a longer page.
 * Scrolling there does the same. The address grows with the list, so that Back keeps the place.
 */
class ShowMore extends HTMLElement {
  #watcher = new IntersectionObserver(
    (entries) => {
      const link = this.#link()
      if (link && entries.some(({ isIntersecting }) => isIntersecting)) void this.#append(link)
    },
    { rootMargin: ahead },
  )

  #link = (): HTMLAnchorElement | null => this.querySelector('a[rel=next]')

  /** Watches the link, which each part of the list replaces. */
  #watch(): void {
    this.#watcher.disconnect()
    const link = this.#link()
    // The last part of a very long list is a page of its own.
    if (link && new URL(link.href).searchParams.has('shown')) this.#watcher.observe(link)
  }

  connectedCallback(): void {
    this.#watch()
    this.addEventListener('click', (event) => {
      const link = event.target instanceof Element ? event.target.closest('a[rel=next]') : null
      const hasModifier = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
      if (!(link instanceof HTMLAnchorElement) || hasModifier) return
      event.preventDefault()
      void this.#append(link, true)
    })
  }

  async #append(link: HTMLAnchorElement, isPressed = false): Promise<void> {
    if (this.hasAttribute('aria-busy')) return
    this.setAttribute('aria-busy', 'true')
    try {
      const response = await fetch(link.href, { headers: { accept: 'text/html' } })
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      const [list, longer] = [this, page.querySelector('show-more')].map((part) =>
        part?.querySelector('.tiles'),
      )
      const added = longer ? [...longer.children].slice(list?.children.length) : []
      // The last part of a very long list is a page of its own.
      if (!response.ok || !list || added.length === 0) throw new Error('there is nothing to append')
      list.append(...added)
      const [pager, next] = [this, page].map((part) => part.querySelector('show-more .pager'))
      if (next) pager?.replaceWith(next)
      else pager?.remove()
      history.replaceState(history.state, '', link.href.replace(/#.*/, ''))
      if (isPressed) added[0]?.querySelector('a')?.focus({ preventScroll: true })
      this.removeAttribute('aria-busy')
      this.#watch()
    } catch {
      this.removeAttribute('aria-busy')
      // Without a press, the link stays for one.
      if (isPressed) location.assign(link.href)
    }
  }
}

customElements.define('show-more', ShowMore)
