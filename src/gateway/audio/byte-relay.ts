import type { CallDeadlines } from '../paid/deadlines.ts'
import type { MediaCall } from '../paid/media.ts'
import type { CallEnd } from '../paid/settlement.ts'

type Out = ReadableStreamDefaultController<Uint8Array>

/** The bytes of an upstream's answer, of which the first have come. */
export interface ByteSource {
  first: Uint8Array
  next(): Promise<Uint8Array | undefined>
  close(): Promise<unknown>
}

/** Waits for the first bytes of an answer; undefined when there are none. Throws when cut. */
export async function openSource(
  response: Response,
  watch: CallDeadlines,
): Promise<ByteSource | undefined> {
  const reader = (response.body ?? new Blob().stream()).getReader()
  const next = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      if (value.byteLength > 0) return value
    }
  }
  const first = await next()
  watch.markFirstByte()
  return first && { first, next, close: () => reader.cancel().catch(() => undefined) }
}

/**
 * Bytes on their way to a client, pulled. They end once, whatever ends them; what broke off is cut
 * for the client too, and nothing ends for it before `paid`.
 */
export class ByteRelay {
  readonly ended: Promise<CallEnd>
  private readonly tell: (end: CallEnd) => void
  private isOpen = true
  private isGone = false

  constructor(
    private readonly source: ByteSource,
    private readonly serving: Pick<MediaCall, 'deadlines' | 'settled' | 'pauseIdleTimeout'>,
  ) {
    const { promise, resolve } = Promise.withResolvers<CallEnd>()
    this.ended = promise
    this.tell = resolve
  }

  /** The body for the client. */
  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (out) => this.start(out),
      pull: (out) => this.pull(out),
      cancel: () => this.leave(),
    })
  }

  private start(out: Out): void {
    out.enqueue(this.source.first)
    // A client that does not read any more, or a deadline, is noticed between two pulls as well.
    const { deadlines: watch } = this.serving
    const stop = () => void this.end(out, false)
    watch.signal.addEventListener('abort', stop)
    if (watch.cause) stop()
  }

  private leave(): void {
    this.isGone = true
    this.serving.deadlines.stop('client')
  }

  private async pull(out: Out): Promise<void> {
    const { pauseIdleTimeout: mayBeSilent } = this.serving
    // Nothing can be told between two parts of a sound.
    mayBeSilent?.(true)
    const part = await this.source.next().catch(() => 'broken' as const)
    mayBeSilent?.(false)
    if (!this.isOpen) return
    if (part === 'broken') return this.end(out, false)
    if (part === undefined) return this.end(out, true)
    out.enqueue(part)
  }

  private async end(out: Out, isWhole: boolean): Promise<void> {
    if (!this.isOpen) return
    this.isOpen = false
    const { deadlines: watch, settled: paid } = this.serving
    watch.end()
    this.tell(isWhole ? 'completed' : watch.cause === 'client' ? 'interrupted' : 'failed')
    if (!isWhole) void this.source.close()
    await paid
    if (this.isGone) return
    if (isWhole) out.close()
    // Cuts the connection. The server would print a reason, if there was one.
    else out.error(undefined)
  }
}
