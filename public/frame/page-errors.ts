import { loadFirstScript } from './first-script.ts'
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

export type TellError = (kind: ErrorKind, text: string, stack: string) => void

type Listen = (type: 'unhandledrejection', listener: (event: PromiseRejectionEvent) => void) => void

/**
 * Tells what a page or a worker rejects, and the texts that it logs as errors. Its own text starts
 * workers, so it uses nothing from outside.
 */
export function watchErrors(listenTo: Listen, tell: TellError): void {
  const { error } = console
  const { apply } = Reflect
  // Values that are neither errors nor texts may be data of the player.
  const textOf = (value: unknown): string =>
    value instanceof Error
      ? `${value.name}: ${value.message}`
      : typeof value === 'string'
        ? value
        : typeof value
  const stackOf = (value: unknown): unknown => value instanceof Error && value.stack
  const send = (kind: ErrorKind, values: unknown[], more: unknown[] = []): void =>
    tell(kind, values.map(textOf).join(' '), [...values, ...more].map(stackOf).join('\n'))
  listenTo('unhandledrejection', ({ reason }) => send('rejected', [reason]))
  console.error = (...values: unknown[]): void => {
    send('logged', values, [new Error()])
    apply(error, console, values)
  }
}

/**
 * Tells the shell what the page throws, rejects and logs as errors. Returns a function that tells
 * it what a worker rejects and logs.
 */
export function pageErrors(run: Run, tell: (message: AppMessage) => void): TellError {
  let left = errorsMax
  const address = run.files?.address ?? ''
  const { href } = location
  const { firstScript } = run
  let scriptUrl = ''
  loadFirstScript(firstScript, (url) => (scriptUrl = url))
  /** Returns a place in the page or a file; undefined for all others, such as the boot script. */
  const placeOf = (url: string, number: number, column: number): Place | undefined => {
    if (url === href) {
      const line = number - run.linesAbove
      return line > 0 ? { file: '', line, column } : undefined
    }
    if (firstScript && url === scriptUrl)
      return { file: '', line: firstScript.line + number, column }
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
  const tellError: TellError = (kind, text, stack) => send(kind, text, placeIn(stack))
  watchErrors(listen, tellError)
  return tellError
}
