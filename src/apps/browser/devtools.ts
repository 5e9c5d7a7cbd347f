import type { Readable, Writable } from 'node:stream'

import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'

/** Handles an event of a session, such as "Fetch.requestPaused". */
export type EventHandler = (method: string, params: Json, session: string) => void

/** The browser rejects a command. */
export class DevtoolsError extends Error {}

const ended = (): Unchecked => new Unchecked('the browser has ended')

const messageCharsMax = 64 * 1_048_576

/** A client of the Chrome DevTools Protocol over a pipe: JSON messages that end in a zero byte. */
export class Devtools {
  private readonly waiting = new Map<number, PromiseWithResolvers<Json>>()
  private readonly handlers = new Map<string, EventHandler>()
  private readonly closing = new AbortController()
  private count = 0
  private text = ''

  constructor(
    private readonly out: Writable,
    come: Readable,
  ) {
    const decoder = new TextDecoder()
    come.on('data', (chunk: Uint8Array) => this.read(decoder.decode(chunk, { stream: true })))
    come.on('close', () => this.close())
    for (const end of [out, come]) end.on('error', () => this.close())
  }

  /** Aborts when the pipe has closed. */
  get closed(): AbortSignal {
    return this.closing.signal
  }

  /** Passes the events of a session to a handler. */
  listen(session: string, handler: EventHandler): void {
    this.handlers.set(session, handler)
  }

  /** Ends what `listen` began. */
  ignore(session: string): void {
    this.handlers.delete(session)
  }

  /** Sends a command to a session, or to the browser. Rejects with DevtoolsError and Unchecked. */
  async send(method: string, params: Json = {}, session = ''): Promise<Json> {
    if (this.closed.aborted) throw ended()
    const id = (this.count += 1)
    const response = Promise.withResolvers<Json>()
    this.waiting.set(id, response)
    const message = { id, method, params, ...(session && { sessionId: session }) }
    this.out.write(`${JSON.stringify(message)}\0`)
    return response.promise
  }

  /** Rejects all commands from now on. */
  close(): void {
    this.closing.abort()
    for (const { reject } of this.waiting.values()) reject(ended())
    this.waiting.clear()
  }

  private read(chunk: string): void {
    const parts = (this.text + chunk).split('\0')
    this.text = parts.pop() ?? ''
    if (this.text.length > messageCharsMax) return this.close()
    try {
      for (const part of parts) this.dispatch(JSON.parse(part))
    } catch {
      // Malformed JSON: close the pipe. There is no caller to throw to.
      this.close()
    }
  }

  private dispatch(message: unknown): void {
    if (!isRecord(message)) return
    const { id, method, params, result, error, sessionId } = message
    if (typeof method === 'string') {
      const session = String(sessionId ?? '')
      return this.handlers.get(session)?.(method, recordOf(params), session)
    }
    const response = this.waiting.get(Number(id))
    this.waiting.delete(Number(id))
    if (isRecord(error)) response?.reject(new DevtoolsError(String(error.message)))
    else response?.resolve(recordOf(result))
  }
}

/** The page itself prevents its check. The message tells its maker how. */
export class PageError extends Error {}

export const unresponsive =
  'The page does not respond: it has an endless loop, or does too much work at once.'
export const tooLarge =
  'The page uses more than 1 GB of memory. Create fewer objects, and draw on smaller canvases.'

export const crashing =
  'The page crashes, most likely because it uses too much memory. ' +
  'Create fewer objects, and draw on smaller canvases.'

/** Something else prevents the check, such as a busy machine. Nothing is known about the page. */
export class Unchecked extends Error {}

/** Returns "ReferenceError: x is not defined (line 12 of its script)" for an exception. */
export function exceptionMessage({ text, exception, lineNumber }: Json): string {
  const description = isRecord(exception) ? exception.description : undefined
  const [first = ''] = String(description ?? text).split('\n')
  const line = typeof lineNumber === 'number' ? ` (line ${lineNumber + 1} of its script)` : ''
  return `The page throws an error when it opens: ${first.slice(0, 300)}${line}`
}
