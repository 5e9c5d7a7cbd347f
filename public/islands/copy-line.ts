const saidMs = 1_600

/** `<copy-line data-what="...">`: a line in a `pre`, with a button that copies it. */
class CopyLine extends HTMLElement {
  connectedCallback(): void {
    const button = document.createElement('button')
    const what = this.dataset['what'] ?? 'line'
    button.type = 'button'
    button.textContent = 'Copy'
    button.setAttribute('aria-label', `Copy: ${what}`)
    const said = document.createElement('span')
    said.className = 'unseen'
    said.setAttribute('role', 'status')
    button.addEventListener('click', async () => {
      const line = this.querySelector('code')
      const isCopied = line !== null && (await copied(line))
      button.textContent = isCopied ? 'Copied' : 'Selected'
      said.textContent = isCopied ? 'Copied.' : 'Selected: copy it with the keyboard.'
      setTimeout(() => {
        button.textContent = 'Copy'
        said.textContent = ''
      }, saidMs)
    })
    this.append(button, said)
  }
}

/** Over plain HTTP there is no clipboard: the line is selected instead. */
async function copied(line: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(line.textContent)
    return true
  } catch {
    getSelection()?.selectAllChildren(line)
    return false
  }
}

customElements.define('copy-line', CopyLine)
