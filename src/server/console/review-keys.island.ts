/**
 * `<review-keys>`: a list of cases that works from the keyboard. j and k move, a presses the button
 * `data-key="a"` of the case, t goes to its reason and o opens it. Without scripts it is a list of
 * forms.
 */
class ReviewKeys extends HTMLElement {
  connectedCallback(): void {
    addEventListener('keydown', this.#onKey)
  }

  disconnectedCallback(): void {
    removeEventListener('keydown', this.#onKey)
  }

  #onKey = (event: KeyboardEvent): void => {
    const { target, key } = event
    const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select')
    if (isTyping && key === 'Escape') this.#current()?.focus()
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    if (key === 'j' || key === 'k') this.#move(key === 'j' ? 1 : -1)
    else if (key === 'a') this.#current()?.querySelector<HTMLElement>('[data-key="a"]')?.click()
    else if (key === 't') this.#current()?.querySelector<HTMLElement>('input[name="why"]')?.focus()
    else if (key === 'o') this.#current()?.querySelector<HTMLElement>('.case-title')?.click()
    else return
    event.preventDefault()
  }

  #cases(): HTMLElement[] {
    return [...this.querySelectorAll<HTMLElement>('.case')]
  }

  /** The case with the focus; undefined before the first j, so that no key decides by accident. */
  #current(): HTMLElement | undefined {
    return this.#cases().find((one) => one.contains(document.activeElement))
  }

  #move(step: number): void {
    const cases = this.#cases()
    const at = cases.findIndex((one) => one.contains(document.activeElement))
    cases[Math.min(cases.length - 1, Math.max(0, at + step))]?.focus()
  }
}

customElements.define('review-keys', ReviewKeys)
