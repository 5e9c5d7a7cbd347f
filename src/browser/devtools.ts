import type { Readable, Writable } from 'node:stream'

import { isRecord, type Json, recordOf } from '../core/schema.ts'

/** Handles an event of a session, such as "Fetch.requestPaused". */
type EventHandler = (method: string, params: Json, session: string) => void

const messageCharsMax = 64 * 1_048_576

/** A client of the Chrome DevTools Protocol over a pipe: JSON messages that end in a zero byte. */
export class Devtools {
  private readonly waiting = new Map<number, PromiseWithResolvers<Json>>()
  private count = 0
  private text = ''

  constructor(
    private readonly out: Writable,
    come: Readable,
    private readonly onEvent: EventHandler,
  ) {
    const decoder = new TextDecoder()
    come.on('data', (chunk: Uint8Array) => this.read(decoder.decode(chunk, { stream: true })))
    come.on('close', () => this.close())
    for (const end of [out, come]) end.on('error', () => this.close())
  }

  /** Sends a command to a session, or to the browser. Rejects with the browser's error. */
  async send(method: string, params: Json = {}, session = ''): Promise<Json> {
    const id = (this.count += 1)
    const response = Promise.withResolvers<Json>()
    this.waiting.set(id, response)
    const message = { id, method, params, ...(session && { sessionId: session }) }
    this.out.write(`${JSON.stringify(message)}\0`)
    return response.promise
  }

  /** Rejects all pending commands. */
  close(): void {
    for (const { reject } of this.waiting.values()) reject(new Error('the browser has ended'))
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
      return this.onEvent(method, recordOf(params), String(sessionId ?? ''))
    }
    const response = this.waiting.get(Number(id))
    this.waiting.delete(Number(id))
    if (isRecord(error)) response?.reject(new Error(String(error.message)))
    else response?.resolve(recordOf(result))
  }
}
