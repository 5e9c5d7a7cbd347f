/** What shell, wrapper, relays and app say to each other; every one of them checks the source. */

export type Saved = [key: string, value: string][]
export type Change = [key: string, value: string | null]
/** The changes that one message may carry. */
export const changesMax = 10_000
export type Area = 'local' | 'session'

/** Shell to wrapper: run this app, in place of the one that runs. */
export interface Start {
  type: 'start'
  run: number
  html: string
  local: Saved
  session: Saved
}

/** Wrapper to shell, once: whether the fallback is on, and how many relays stand above the app. */
export interface Mode {
  type: 'mode'
  hard: boolean
  depth: number
}

/** Wrapper to boot script, as JSON in its tag: what must be there before the app's first script. */
export interface Run {
  run: number
  hard: boolean
  quirks: boolean
  local: Saved
  session: Saved
}

/** Wrapper to relay, and relay to relay. */
export interface Down {
  type: 'down'
  relays: string[]
  html: string
}

/** Shell to app: its files, by name. */
export interface Files {
  type: 'service:assets'
  files: { name: string; blob: Blob }[]
}

/** A level above the app, which has the keys, to the app. */
export interface Press {
  type: 'service:key'
  of: string
  init: KeyboardEventInit
}

/** App to shell. */
export type Told =
  | { type: 'service:hello'; run: number }
  | { type: 'service:gone'; run: number }
  | { type: 'service:save'; area: Area; changes: Change[] }
  | { type: 'service:link'; href: string }
  | { type: 'service:download'; name: string; blob: Blob }

/** A field of something that arrived by message: whatever it is, reading it must not throw. */
export const field = (data: unknown, name: string): unknown =>
  typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined

/** A text field of a message, cut to a length; '' when it is not a text. */
export function text(data: unknown, name: string, max: number): string {
  const value = field(data, name)
  return typeof value === 'string' ? value.slice(0, max) : ''
}
