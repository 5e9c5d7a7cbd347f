import { listen } from './listen.ts'
import type { AppMessage, ErrorKind, Run } from './messages.ts'

/** Errors of one run that reach the shell. An endless loop of errors ends here. */
const errorsMax = 20
const textCharsMax = 300

/** Tells the shell what the page throws, and the texts that it logs as errors. */
export function pageErrors(run: Run, tell: (message: AppMessage) => void): void {
  let left = errorsMax
  const address = run.files?.address ?? ''
  const { href } = location
  const send = (kind: ErrorKind, text: string, url = '', number = 0, column = 0): void => {
    if (left <= 0) return
    left -= 1
    const isPage = url === href
    const line = isPage ? Math.max(0, number - run.linesAbove) : number
    const isFile = address !== '' && !isPage && url.startsWith(address)
    const file = isFile ? url.slice(address.length) : ''
    tell({ type: 'service:error', kind, text: text.slice(0, textCharsMax), file, line, column })
  }
  listen('error', (event) => {
    if (!event.isTrusted || !(event instanceof ErrorEvent)) return
    send('thrown', event.message, event.filename, event.lineno, event.colno)
  })
  listen('unhandledrejection', ({ isTrusted, reason }) => {
    if (isTrusted) send('rejected', textOf(reason))
  })
  const { error } = console
  console.error = (...values: unknown[]): void => {
    send('logged', values.map(textOf).join(' '))
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
