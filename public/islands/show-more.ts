/** `<show-more>`: "Show more" appends the next tiles of a list instead of loading a longer page. */
class ShowMore extends HTMLElement {
  connectedCallback(): void {
    this.addEventListener('click', (event) => {
      const link = event.target instanceof Element ? event.target.closest('a[rel=next]') : null
      const hasModifier = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
      if (!(link instanceof HTMLAnchorElement) || hasModifier) return
      event.preventDefault()
      if (!this.hasAttribute('aria-busy')) void this.#append(link)
    })
  }

  async #append(link: HTMLAnchorElement): Promise<void> {
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
      added[0]?.querySelector('a')?.focus({ preventScroll: true })
    } catch {
      location.assign(link.href)
    }
    this.removeAttribute('aria-busy')
  }
}

customElements.define('show-more', ShowMore)
