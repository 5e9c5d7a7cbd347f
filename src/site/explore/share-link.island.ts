import { t } from '../../../public/words.ts'
/** `<share-link data-url data-title>`: a button that opens the share dialog of the system. */
class ShareLink extends HTMLElement {
  connectedCallback(): void {
    if (!('share' in navigator)) return
    const { url = location.href, title = document.title } = this.dataset
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button'
    button.textContent = t('Share with …')
    // The person may close the dialog, which rejects.
    button.addEventListener('click', () => void navigator.share({ url, title }).catch(() => {}))
    this.append(button)
  }
}

customElements.define('share-link', ShareLink)
