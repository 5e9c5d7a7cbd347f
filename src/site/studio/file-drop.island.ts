/**
 * `<file-drop>`: puts a dropped file into its form. The only one of a page takes files that are
 * dropped anywhere. `data-at-once`: a file that is chosen or dropped is sent.
 */
class FileDrop extends HTMLElement {
  connectedCallback(): void {
    const isOnly = document.querySelectorAll('file-drop').length === 1
    const area = isOnly ? document : this
    area.addEventListener('dragover', () => (this.dataset['over'] = ''))
    area.addEventListener('dragleave', () => delete this.dataset['over'])
    area.addEventListener('drop', (event) => {
      delete this.dataset['over']
      if (event instanceof DragEvent) this.#take(event.dataTransfer)
    })
    if (this.dataset['atOnce'] !== undefined) {
      this.addEventListener('change', () => this.querySelector('form')?.requestSubmit())
    }
    // Elsewhere, the browser would open the file in place of the page.
    for (const type of ['dragover', 'drop']) {
      document.addEventListener(type, (event) => event.preventDefault())
    }
  }

  #take(data: DataTransfer | null): void {
    const [file] = data?.files ?? []
    const field = this.querySelector<HTMLInputElement>('input[type=file]')
    if (!file || !field) return
    const one = new DataTransfer()
    one.items.add(file)
    field.files = one.files
    field.dispatchEvent(new Event('change', { bubbles: true }))
    this.querySelector<HTMLButtonElement>('button:not([type=button])')?.focus()
  }
}

customElements.define('file-drop', FileDrop)
