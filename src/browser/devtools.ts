import type { Readable, Writable } from 'node:stream'

import { isRecord, recordOf } from '../core/schema.ts'

type Wire = Record<string, unknown>
/** An event of a session: "Fetch.requestPaused". */
type Heard = (method: string, params: Wire, session: string) => void

const messageCharsMax = 64 * 1_048_576

/**
 * The Chrome DevTools Protocol over the browser's own pipe: JSON messages, each with a zero byte
 * behind it.
 */
export class Devtools {
  private readonly waiting = new Map<number, PromiseWithResolvers<Wire>>()
  private count = 0
  private text = ''

  constructor(
    private readonly out: Writable,
    come: Readable,
    private readonly heard: Heard,
  ) {
    const decoder = new TextDecoder()
    come.on('data', (chunk: Uint8Array) => this.read(decoder.decode(chunk, { stream: true })))
    come.on('close', () => this.close())
    for (const end of [out, come]) end.on('error', () => this.close())
  }

  /** Sends a command to a session, or to the browser itself; throws what it answers as wrong. */
  async send(method: string, params: Wire = {}, session = ''): Promise<Wire> {
    const id = (this.count += 1)
    const answer = Promise.withResolvers<Wire>()
    this.waiting.set(id, answer)
    const message = { id, method, params, ...(session && { sessionId: session }) }
    this.out.write(`${JSON.stringify(message)}\0`)
    return answer.promise
  }

  /** What is still waited for fails. */
  close(): void {
    for (const { reject } of this.waiting.values()) reject(new Error('the browser has ended'))
    this.waiting.clear()
  }

  private read(chunk: string): void {
    const parts = (this.text + chunk).split('\0')
    this.text = parts.pop() ?? ''
    if (this.text.length > messageCharsMax) return this.close()
    try {
      for (const part of parts) this.take(JSON.parse(part))
    } catch {
      // Who says what is no JSON is no browser; and nobody is there to catch it.
      this.close()
    }
  }

  private take(message: unknown): void {
    if (!isRecord(message)) return
    const { id, method, params, result, error, sessionId } = message
    if (typeof method === 'string') {
      return this.heard(method, recordOf(params), String(sessionId ?? ''))
    }
    const answer = this.waiting.get(Number(id))
    this.waiting.delete(Number(id))
    if (isRecord(error)) answer?.reject(new Error(String(error.message)))
    else answer?.resolve(recordOf(result))
  }
}
