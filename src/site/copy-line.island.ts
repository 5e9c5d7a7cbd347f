import { t } from '../../public/words.ts'
const messageMs = 1_600

/** `<copy-line data-label="...">`: adds a Copy button to the code in its `pre`. */
class CopyLine extends HTMLElement {
  connectedCallback(): void {
    const button = document.createElement('button')
    const label = this.dataset['label'] ?? 'line'
    button.type = 'button'
    button.textContent = t('Copy')
    button.setAttribute('aria-label', t('Copy: {label}', { label }))
    const status = document.createElement('span')
    status.className = 'visually-hidden'
    status.setAttribute('role', 'status')
    button.addEventListener('click', async () => {
      const line = this.querySelector('code')
      const isCopied = line !== null && (await copyText(line))
      button.textContent = isCopied ? t('Copied') : t('Selected')
      status.textContent = isCopied ? t('Copied.') : t('Selected. Press Ctrl+C or ⌘C to copy.')
      setTimeout(() => {
        button.textContent = t('Copy')
        status.textContent = ''
      }, messageMs)
    })
    this.append(button, status)
  }
}

/** Copies the line. Plain HTTP has no clipboard, so the line is selected instead. */
async function copyText(line: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(line.textContent)
    return true
  } catch {
    getSelection()?.selectAllChildren(line)
    return false
  }
}

customElements.define('copy-line', CopyLine)
