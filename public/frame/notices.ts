/** The one line the shell says things on. It lies in the top layer, above a full-screen app too. */
export interface Offer {
  text: string
  /** What the button says; left out, there is nothing to press. */
  label?: string
  press?: () => void
  /** An address the button opens instead, outside and without a word about us. */
  href?: string
  /** How long it stays; until it is closed when left out. */
  ms?: number
}

const part = (id: string): HTMLElement => {
  const found = document.getElementById(id)
  if (!found) throw new Error(`no ${id}`)
  return found
}

const settleMs = 400

/** Only the newest offer is shown: an app that makes a thousand still covers one line. */
export function openNotices(done: () => void): (offer: Offer) => void {
  const box = part('notice')
  const said = part('said')
  let timer = 0
  const close = (): void => {
    clearTimeout(timer)
    box.hidePopover()
    done()
  }
  part('close').addEventListener('click', close)
  return ({ text, label, press, href, ms }) => {
    clearTimeout(timer)
    said.textContent = text
    const button = document.createElement(href === undefined ? 'button' : 'a')
    button.id = 'offer'
    button.textContent = label ?? ''
    button.hidden = label === undefined
    if (button instanceof HTMLAnchorElement && href !== undefined) {
      button.href = href
      button.target = '_blank'
      button.rel = 'noopener noreferrer nofollow'
    }
    const shown = performance.now()
    button.addEventListener('click', (event) => {
      // An app could put another offer under a finger that is already on its way down.
      if (performance.now() - shown < settleMs) return event.preventDefault()
      close()
      press?.()
    })
    part('offer').replaceWith(button)
    box.hidePopover()
    box.showPopover()
    if (ms !== undefined) timer = window.setTimeout(() => box.hidePopover(), ms)
  }
}

const units = ['bytes', 'KB', 'MB']

/** "24 KB" */
export function size(bytes: number): string {
  if (bytes === 1) return '1 byte'
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}
