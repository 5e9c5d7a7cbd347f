/**
 * `<unsaved-changes>`: says whether the form around it has changes, offers to discard them, and
 * asks before one leaves them. `data-changed`: the page already has changes that were not saved.
 */
class UnsavedChanges extends HTMLElement {
  connectedCallback(): void {
    const form = this.closest('form')
    if (!form) return
    const saved = textOf(form)
    let isSent = false
    const hasChanges = (): boolean =>
      this.dataset['changed'] !== undefined || textOf(form) !== saved
    const show = (): void => {
      const isHidden = !hasChanges()
      for (const part of this.querySelectorAll<HTMLElement>('[type=reset], span')) {
        part.hidden = isHidden
      }
    }
    form.addEventListener('input', show)
    // The fields have their first values after the event.
    form.addEventListener('reset', () => setTimeout(show))
    form.addEventListener('submit', () => (isSent = true))
    addEventListener('beforeunload', (event) => {
      if (!isSent && hasChanges()) event.preventDefault()
    })
    show()
  }
}

/** Returns the values of a form as one text. */
const textOf = (form: HTMLFormElement): string =>
  JSON.stringify([...new FormData(form)].map(([name, value]) => [name, String(value)]))

customElements.define('unsaved-changes', UnsavedChanges)
