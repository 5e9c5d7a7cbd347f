import type { CallDeadlines } from '../paid/deadlines.ts'
import type { MediaCall } from '../paid/media.ts'
import type { ReceivedFile } from '../paid/response-body.ts'
import type { CallEnd } from '../paid/serve-call.ts'
import { interruptionOf, noContent, type UpstreamFailure } from '../paid/upstream-failure.ts'

type Controller = ReadableStreamDefaultController<Uint8Array>

/** The body of an upstream's response, after its first bytes. */
export interface ByteSource {
  first: Uint8Array
  next(): Promise<Uint8Array | undefined>
  close(): Promise<unknown>
}

/** Waits for the first bytes of a response. A response that is empty or cut is a failure. */
export async function openSource(
  received: ReceivedFile,
  deadlines: CallDeadlines,
): Promise<ByteSource | UpstreamFailure> {
  const body = 'file' in received ? received.file.stream() : received.response.body
  const reader = (body ?? new Blob().stream()).getReader()
  const next = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      if (value.byteLength > 0) return value
    }
  }
  const first = await next().catch(() => 'broken' as const)
  if (first === 'broken' || deadlines.cause) return interruptionOf(deadlines)
  deadlines.markFirstByte()
  if (!first) return noContent
  return { first, next, close: () => reader.cancel().catch(() => undefined) }
}

/**
 * Relays bytes to a client by pulling. It ends once. When the upstream breaks off, it cuts the
 * client's connection. It closes only after the charge is settled.
 */
export class ByteRelay {
  private readonly ending = Promise.withResolvers<CallEnd>()
  readonly ended = this.ending.promise
  private isOpen = true
  private hasClientLeft = false

  constructor(
    private readonly source: ByteSource,
    private readonly call: Pick<MediaCall, 'deadlines' | 'pauseIdleTimeout'>,
    private readonly settled: Promise<unknown>,
  ) {}

  /** Returns the body for the client. */
  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (out) => this.start(out),
      pull: (out) => this.pull(out),
      cancel: () => {
        this.hasClientLeft = true
        this.call.deadlines.stop('client')
      },
    })
  }

  private start(out: Controller): void {
    out.enqueue(this.source.first)
    // A client that stopped reading, or a deadline, must end it between two pulls as well.
    const { deadlines } = this.call
    const stop = () => void this.end(out, false)
    deadlines.signal.addEventListener('abort', stop)
    if (deadlines.cause) stop()
  }

  private async pull(out: Controller): Promise<void> {
    const { pauseIdleTimeout } = this.call
    // Audio has no place for a heartbeat between two chunks.
    pauseIdleTimeout?.(true)
    const chunk = await this.source.next().catch(() => 'broken' as const)
    pauseIdleTimeout?.(false)
    if (!this.isOpen) return
    if (chunk === 'broken') return this.end(out, false)
    if (chunk === undefined) return this.end(out, true)
    out.enqueue(chunk)
  }

  private async end(out: Controller, isComplete: boolean): Promise<void> {
    if (!this.isOpen) return
    this.isOpen = false
    const { deadlines } = this.call
    deadlines.end()
    const cause = deadlines.cause === 'client' ? 'interrupted' : 'failed'
    this.ending.resolve(isComplete ? 'completed' : cause)
    if (!isComplete) void this.source.close()
    await this.settled
    if (this.hasClientLeft) return
    if (isComplete) out.close()
    // Cuts the connection. The server would log a reason.
    else out.error(undefined)
  }
}
