import { field, type Received, text } from './messages.ts'

const charsMax = 10_000

/** Reads what was shared from a message; undefined where nothing was. */
export function receivedIn(data: unknown): Received | undefined {
  const [title, shared, url] = ['title', 'text', 'url'].map((name) => text(data, name, charsMax))
  if (!title && !shared && !url) return undefined
  return { title: title ?? '', text: shared ?? '', url: url ?? '' }
}

/**
 * Takes what was shared out of the address of the page, for an app that asks for that. A reload and
 * the history then do not bring it again.
 */
export function takeReceived(): Received | undefined {
  if (!('takesShares' in document.documentElement.dataset) || location.search === '') {
    return undefined
  }
  const received = receivedIn(Object.fromEntries(new URLSearchParams(location.search)))
  history.replaceState(history.state, '', location.pathname + location.hash)
  return received
}

/** Returns what a start message has of it. */
export const receivedOf = (message: unknown): Received | undefined =>
  receivedIn(field(message, 'received'))
