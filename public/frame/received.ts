import { field, type Received, text } from './messages.ts'

const charsMax = 10_000
const names = ['title', 'text', 'url']

/** Reads what was shared from a message; undefined where nothing was. */
export function receivedIn(data: unknown): Received | undefined {
  const [title, shared, url] = names.map((name) => text(data, name, charsMax))
  if (!title && !shared && !url) return undefined
  return { title: title ?? '', text: shared ?? '', url: url ?? '' }
}

/**
 * Takes what was shared out of the address of the page, for an app that asks for that. A reload and
 * the history then do not bring it again. Other parameters stay, such as `challenge`.
 */
export function takeReceived(): Received | undefined {
  if (!('takesShares' in document.documentElement.dataset)) return undefined
  const url = new URL(location.href)
  const received = receivedIn(Object.fromEntries(url.searchParams))
  if (!received) return undefined
  for (const name of names) url.searchParams.delete(name)
  history.replaceState(history.state, '', url)
  return received
}

/** Returns what a start message has of it. */
export const receivedOf = (message: unknown): Received | undefined =>
  receivedIn(field(message, 'received'))
