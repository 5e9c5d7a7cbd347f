/** The shell's notice bar. It is in the top layer, also above a full-screen app. */
export interface Offer {
  text: string
  /** Label of the button. Without it there is no button. */
  label?: string
  press?: () => void
  /** URL that the button opens in a new tab, without a referrer. */
  href?: string
  /** Milliseconds until it closes. Without it, it stays open. */
  ms?: number
}

const part = (id: string): HTMLElement => {
  const found = document.getElementById(id)
  if (!found) throw new Error(`no ${id}`)
  return found
}

const settleMs = 400

/**
 * Shows only the newest offer, so that a thousand offers still cover one line. `openLink` is for a
 * page that may not open tabs itself.
 */
export function openNotices(
  done: () => void,
  openLink?: (url: string) => void,
): (offer: Offer) => void {
  const box = part('notice')
  const message = part('message')
  let timer = 0
  const close = (): void => {
    clearTimeout(timer)
    box.hidePopover()
    done()
  }
  part('close').addEventListener('click', close)
  return ({ text, label, press, href, ms }) => {
    clearTimeout(timer)
    message.textContent = text
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
      // Otherwise an app could swap the offer under a finger that is about to tap.
      if (performance.now() - shown < settleMs) return event.preventDefault()
      close()
      press?.()
      if (href === undefined || !openLink) return
      event.preventDefault()
      openLink(href)
    })
    part('offer').replaceWith(button)
    box.hidePopover()
    box.showPopover()
    if (ms !== undefined) timer = window.setTimeout(() => box.hidePopover(), ms)
  }
}

const units = ['bytes', 'KB', 'MB']

/** Formats bytes: "24 KB". */
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
