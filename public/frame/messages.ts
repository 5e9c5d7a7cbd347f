/** Messages between shell, wrapper, relays and app. Every receiver checks the source. */

export type Saved = [key: string, value: string][]
export type Change = [key: string, value: string | null]
/** Bound on the changes in one message. */
export const changesMax = 10_000
export type Area = 'local' | 'session'
/** A question of confirm or prompt that was asked while a page loaded, with its answer. */
export type DialogResult = [question: string, text: string]
export const answersMax = 20

/** Shell to wrapper: run this app instead of the current one. */
export interface Start extends PageContent {
  type: 'start'
  run: number
  local: Saved
  session: Saved
  answers: DialogResult[]
  isMuted: boolean
  labels: DialogLabels
  surroundings?: Surroundings | undefined
}

/** The labels of the dialogs of a page, in the language of the page around it. */
export interface DialogLabels {
  ok: string
  cancel: string
}

/** The chat of a host, for a page that it shows. */
export interface Surroundings {
  /** The language of the person (BCP 47), or ''. */
  locale: string
}

/** An app's HTML, with its libraries and its files where it has some. */
export interface PageContent {
  html: string
  libraries?: Libraries
  files?: PageFiles
  /** The texts and files that were shared with the app as it was opened, and its shortcut. */
  received?: Received | undefined
}

/**
 * Texts and files that another app of the device shared with this one, and the name of the shortcut
 * that opened it. Missing texts are ''.
 */
export interface Received {
  shortcut: string
  title: string
  text: string
  url: string
  files: ReceivedFile[]
}

interface ReceivedFile {
  name: string
  type: string
  base64: string
}

/** The files of an app, which have an address. */
export interface PageFiles {
  /** Name of the page that runs, in its folder. */
  page: string
  /** Path of its URL in the folder, or '' where that is its name. */
  path: string
  /** Fragment that the page starts at, with its #, or ''. */
  hash: string
  /** Query that the page starts with, with its ?, or ''. */
  search: string
  /** Names of all files, without that of the first page. */
  names: string[]
  /** Their address, where the wrapper has another one. */
  address?: string
  /** The files of an offline copy, whose page does not reach the address. */
  contents?: LibraryFile[]
}

/** The files of an app as its document uses them. */
export interface OwnFiles extends PageFiles {
  /** Their address, ending in a slash. */
  address: string
  /** Another import map has the names of the files: Firefox takes one alone. */
  isMapped: boolean
  /** In an offline copy, the document after the boot script, with placeholders of its files. */
  rest?: string
}

/** Library files of a page, from the shell to the app, with the script that loads them. */
export interface Libraries {
  loader: string
  files: LibraryFile[]
  /** As the host lists them: LibraryPage. */
  urls: unknown
  imports: unknown
  /** Script with what the page uses of IndexedDB and `service`; '' for other pages. */
  script: string
}

export interface LibraryFile {
  name: string
  type: string
  /** Text, or base64 of bytes. */
  text: string
}

/** Returns whether received data has the fields of libraries. */
export const isLibraries = (data: unknown): data is Libraries =>
  ['files', 'urls', 'imports'].every((name) => Array.isArray(field(data, name)))

/** A database of an app, from the app to the shell and back. */
export interface SavedDatabase {
  name: string
  version: number
  stores: SavedStore[]
}

export interface SavedStore {
  name: string
  keyPath: unknown
  autoIncrement: boolean
  /** The last number of its key generator. */
  next: number
  indexes: { name: string; keyPath: unknown; unique: boolean; multiEntry: boolean }[]
  records: [key: unknown, value: unknown][]
}

/** Wrapper to loader, as JSON in a tag of its own, for a page with libraries. */
export interface LibraryPage {
  html: string
  needsFallback: boolean
  files: LibraryFile[]
  /** URLs as the page writes them, or folders of them, and names of files. */
  urls: [url: string, name: string][]
  /** Import map: names of files, or URLs that are no library. */
  imports: [name: string, target: string][]
  /** Address of the files of the page, or ''. */
  address: string
  /** Names of the page's own files. */
  own: string[]
}

/**
 * Wrapper to shell, when it has loaded and when it is asked: the number of frames from the wrapper
 * to the app, which is 0 without the fallback.
 */
export interface Mode {
  type: 'mode'
  depth: number
}

/** The first script of a page that has its code inside. */
export interface FirstScript {
  /** Lines of the page before its code. */
  line: number
  length: number
}

/** Wrapper to boot script, as JSON in its tag: the data that the app's first script needs. */
export interface Run {
  run: number
  /** The number of frames from the wrapper to the app. */
  depth: number
  needsFallback: boolean
  quirks: boolean
  local: Saved
  session: Saved
  answers: DialogResult[]
  isMuted: boolean
  labels: DialogLabels
  surroundings: Surroundings | undefined
  /** Lines of the document before the page's own text. */
  linesAbove: number
  /** In WebKit, which hides what it throws. */
  firstScript: FirstScript | undefined
  files?: OwnFiles | undefined
  received: Received | undefined
}

/** Wrapper to relay, and relay to relay. */
export interface Down {
  type: 'down'
  relays: string[]
  html: string
}

/** Shell to app: the person turned its sound off or on. */
export interface Sound {
  type: 'service:sound'
  isMuted: boolean
}

/** Shell to app, with a port: the script that records its last seconds (public/moments). */
export interface RecordMoments {
  type: 'service:record'
  script: string
}

/** Outer frame with the keyboard focus to app: a key event. */
export interface Press {
  type: 'service:key'
  of: string
  init: KeyboardEventInit
}

export type ErrorKind = 'thrown' | 'rejected' | 'logged'

/** App to shell, with the number of the run. */
export type AppMessage =
  | { type: 'service:hello' }
  | { type: 'service:gone' }
  | { type: 'service:reloaded' }
  | { type: 'service:page'; url: string; replaces?: true }
  | { type: 'service:save'; area: Area; changes: Change[] }
  | { type: 'service:link'; href: string }
  | { type: 'service:download'; name: string; blob: Blob }
  | { type: 'service:databases' }
  | { type: 'service:database'; database: SavedDatabase }
  | { type: 'service:database'; deleted: string }
  | { type: 'service:answers'; answers: DialogResult[] }
  | {
      type: 'service:error'
      kind: ErrorKind
      text: string
      file: string
      line: number
      column: number
    }
  | { type: 'service:size'; height: number }
  | { type: 'service:full'; isFull: boolean }
  | { type: 'service:print'; height: number }
  | { type: 'service:escape' }
  | { type: 'service:share'; title: string; text: string; url: string }

/** Reads a field of received data. Never throws. */
export const field = (data: unknown, name: string): unknown =>
  typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined

/** Reads a text field of a message, cut to a length; '' when it is not text. */
export function text(data: unknown, name: string, max: number): string {
  const value = field(data, name)
  return typeof value === 'string' ? value.slice(0, max) : ''
}
