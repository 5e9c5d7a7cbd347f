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
  /** Runs when it is closed. Until that or a press, it comes back after other offers. */
  discard?: () => void
}

const part = (id: string): HTMLElement => {
  const found = document.getElementById(id)
  if (!found) throw new Error(`no ${id}`)
  return found
}

const settleMs = 400

/**
 * Shows only the newest offer, so that a thousand offers still cover one line. One with `discard`
 * is not lost to the others. `openLink` is for a page that may not open tabs itself.
 */
export function openNotices(
  done: () => void,
  openLink?: (url: string) => void,
): (offer: Offer) => void {
  const box = part('notice')
  const message = part('message')
  let timer = 0
  let shown: Offer | undefined
  /** The newest offer with `discard`. */
  let waiting: Offer | undefined
  const end = (): void => {
    clearTimeout(timer)
    box.hidePopover()
    if (waiting === shown) waiting = undefined
    else if (waiting) show(waiting)
  }
  part('close').addEventListener('click', () => {
    const { discard } = shown ?? {}
    end()
    done()
    discard?.()
  })
  const show = (offer: Offer): void => {
    const { text, label, press, href, ms } = offer
    shown = offer
    if (offer.discard) waiting = offer
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
    const shownAt = performance.now()
    button.addEventListener('click', (event) => {
      // Otherwise an app could swap the offer under a finger that is about to tap.
      if (performance.now() - shownAt < settleMs) return event.preventDefault()
      end()
      done()
      press?.()
      if (href === undefined || !openLink) return
      event.preventDefault()
      openLink(href)
    })
    part('offer').replaceWith(button)
    box.hidePopover()
    box.showPopover()
    if (ms !== undefined) timer = window.setTimeout(end, ms)
  }
  return show
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
