import { t } from '../../public/words.ts'
const messageMs = 1_600

/** `<save-secret data-file="codes.txt">`: copies, downloads and prints the codes within it. */
class SaveSecret extends HTMLElement {
  connectedCallback(): void {
    const bar = document.createElement('p')
    bar.className = 'save-bar'
    const status = document.createElement('span')
    status.className = 'visually-hidden'
    status.setAttribute('role', 'status')
    // Plain HTTP has no clipboard. A code block has a Copy button of its own.
    const canCopy = navigator.clipboard !== undefined && !this.querySelector('copy-line')
    if (canCopy) {
      const copy = this.#button(t('Copy'), async () => {
        await navigator.clipboard.writeText(this.#text)
        copy.textContent = t('Copied')
        status.textContent = t('Copied.')
        setTimeout(() => copy.replaceChildren(t('Copy')), messageMs)
      })
      bar.append(copy)
    }
    bar.append(
      this.#button(t('Download'), () => this.#download()),
      this.#button(t('Print'), () => window.print()),
      status,
    )
    this.append(bar)
  }

  /** The codes, one a line. */
  get #text(): string {
    return [...this.querySelectorAll('code')].map((code) => code.textContent).join('\n')
  }

  #button(label: string, act: () => unknown): HTMLButtonElement {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button quiet slim'
    button.textContent = label
    button.addEventListener('click', () => void act())
    return button
  }

  #download(): void {
    const link = document.createElement('a')
    const url = URL.createObjectURL(new Blob([`${this.#text}\n`], { type: 'text/plain' }))
    link.href = url
    link.download = this.dataset['file'] ?? 'berth.txt'
    link.click()
    setTimeout(() => URL.revokeObjectURL(url))
  }
}

customElements.define('save-secret', SaveSecret)
