import { toBase64, toBytes } from './fetch-libraries.ts'
import { field, type Received, text } from './messages.ts'

/** Bounds of the files that are shared with an app at once. */
export const sharedFilesMax = 10
export const sharedBytesMax = 10 * 1_048_576
/** Name of the query of a page whose worker has kept what was shared. */
export const sharedQuery = 'shared'
/** Path of that, below the path of the parts of a copy. */
export const sharedPath = '/received'

const charsMax = 10_000
const nameCharsMax = 300
const base64CharsMax = 2 * sharedBytesMax
export const textNames = ['title', 'text', 'url', 'shortcut']
/** Name of the query with the page, query and fragment of a folder that a shortcut starts at. */
const startName = 'start'

/** Returns the texts of what was shared, with its files; undefined where nothing was. */
function receivedWith(data: unknown, files: Received['files']): Received | undefined {
  const texts = textNames.map((name) => text(data, name, charsMax))
  const [title = '', shared = '', url = '', shortcut = ''] = texts
  const isEmpty = texts.every((one) => one === '') && files.length === 0
  return isEmpty ? undefined : { title, text: shared, url, shortcut, files }
}

/** Reads what was shared from a message; undefined where nothing was. */
function receivedIn(data: unknown): Received | undefined {
  const rows = field(data, 'files')
  const files = (Array.isArray(rows) ? rows.slice(0, sharedFilesMax) : []).map((row: unknown) => ({
    name: text(row, 'name', nameCharsMax),
    type: text(row, 'type', nameCharsMax),
    base64: text(row, 'base64', base64CharsMax),
  }))
  return receivedWith(data, files)
}

const addressOf = (id: string): string => `/a/${id}/offline${sharedPath}`

/** Reads the texts and files that the worker of an installed app has kept. */
async function readKept(id: string): Promise<Received | undefined> {
  const response = await fetch(addressOf(id))
  if (!response.ok) return undefined
  const form = await response.formData()
  const given = form.getAll('files').filter((file) => file instanceof File)
  const files = given.map(async (file) => {
    const { name, type } = file
    return { name, type, base64: await toBase64(file) }
  })
  const texts = textNames.map((name) => [name, form.get(name)])
  return receivedIn({ ...Object.fromEntries(texts), files: await Promise.all(files) })
}

const isReceiver = (): boolean => 'isReceiver' in document.documentElement.dataset

/** Removes parameters from the address of the page. Others stay, such as `challenge`. */
export function removeParameters(names: string[]): void {
  const url = new URL(location.href)
  for (const name of names) url.searchParams.delete(name)
  history.replaceState(history.state, '', url)
}

/**
 * Takes what was shared, and where a shortcut starts ('' for the first page), out of the address of
 * the page, for an app that asks for that. A reload and the history then do not bring it again.
 */
export function takeReceived(): { received?: Received | undefined; start: string } {
  if (!isReceiver()) return { start: '' }
  const query = Object.fromEntries(new URLSearchParams(location.search))
  const received = receivedWith(query, [])
  const start = text(query, startName, charsMax)
  if (received || start !== '') removeParameters([...textNames, startName])
  return { received, start }
}

/**
 * Reads what the worker of the app has kept for this page, with its files. No frame gets that. It
 * stays until `discardForm`, so that a page that reloads offers it again.
 */
export async function readForm(id: string): Promise<Received | undefined> {
  const isKept = new URLSearchParams(location.search).has(sharedQuery)
  if (!isReceiver() || !isKept || window !== top) return undefined
  const received = await readKept(id).catch(() => undefined)
  if (!received) removeParameters([sharedQuery])
  return received
}

export function discardForm(id: string): void {
  removeParameters([sharedQuery])
  void fetch(addressOf(id), { method: 'DELETE', keepalive: true }).catch(() => undefined)
}

const isReceived = (data: unknown): data is Received => Array.isArray(field(data, 'files'))

/** Returns what a start message has of it. The shell has read it. */
export function receivedOf(message: unknown): Received | undefined {
  const received = field(message, 'received')
  return isReceived(received) ? received : undefined
}

/** Returns what was shared as a page reads it. */
export const openReceived = ({ files, ...texts }: Received) =>
  Object.freeze({
    ...texts,
    files: files.map(({ name, type, base64 }) => new File([toBytes(base64)], name, { type })),
  })
