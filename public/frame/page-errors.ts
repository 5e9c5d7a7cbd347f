import { listen } from './listen.ts'
import type { AppMessage, ErrorKind, Run } from './messages.ts'

/** Errors of one run that reach the shell. An endless loop of errors ends here. */
const errorsMax = 20
const textCharsMax = 300
const stackCharsMax = 5_000
/** A frame of a stack: "at f (url:3:5)" in Chromium, "f@url:3:5" in others. */
const frame = /([^\s()@]+):(\d+):(\d+)\)?$/gm

type Place = Pick<AppMessage & { type: 'service:error' }, 'file' | 'line' | 'column'>

const noPlace: Place = { file: '', line: 0, column: 0 }

/** Tells the shell what the page throws, and the texts that it logs as errors. */
export function pageErrors(run: Run, tell: (message: AppMessage) => void): void {
  let left = errorsMax
  const address = run.files?.address ?? ''
  const { href } = location
  /** Returns a place in the page or a file; undefined for all others, such as the boot script. */
  const placeOf = (url: string, number: number, column: number): Place | undefined => {
    if (url === href) {
      const line = number - run.linesAbove
      return line > 0 ? { file: '', line, column } : undefined
    }
    const isFile = address !== '' && url.startsWith(address)
    return isFile ? { file: url.slice(address.length), line: number, column } : undefined
  }
  /** Returns the first place of a stack that is in the page or a file. */
  const placeIn = (stack: string): Place | undefined => {
    for (const [, url = '', line, column] of stack.slice(0, stackCharsMax).matchAll(frame)) {
      const place = placeOf(url, Number(line), Number(column))
      if (place) return place
    }
    return undefined
  }
  const send = (kind: ErrorKind, text: string, place = noPlace): void => {
    if (left <= 0) return
    left -= 1
    tell({ type: 'service:error', kind, text: text.slice(0, textCharsMax), ...place })
  }
  listen('error', (event) => {
    if (!event.isTrusted || !(event instanceof ErrorEvent)) return
    const { message, filename, lineno, colno } = event
    send('thrown', message.replace(/^Uncaught /, ''), placeOf(filename, lineno, colno))
  })
  listen('unhandledrejection', ({ isTrusted, reason }) => {
    if (isTrusted) send('rejected', textOf(reason), placeIn(stackOf(reason)))
  })
  const { error } = console
  console.error = (...values: unknown[]): void => {
    const stacks = [...values, new Error()].map(stackOf)
    const place = stacks.map(placeIn).find((found) => found !== undefined)
    send('logged', values.map(textOf).join(' '), place)
    Reflect.apply(error, console, values)
  }
}

/** Returns the message of an error, or a text. Values of other types may be data of the player. */
const textOf = (value: unknown): string =>
  value instanceof Error
    ? `${value.name}: ${value.message}`
    : typeof value === 'string'
      ? value
      : typeof value

const stackOf = (value: unknown): string => (value instanceof Error ? String(value.stack) : '')
