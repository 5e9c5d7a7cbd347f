import { second } from '../../core/time.ts'

/** Why the work with an upstream was broken off. */
export type Cause = 'client' | 'deadline'

/** What a watch is set to. */
export interface Deadlines {
  firstByteMs: number
  totalMs: number
}

export const deadlinesOf = (config: {
  gatewayFirstByteSeconds: number
  gatewayTotalSeconds: number
}): Deadlines => ({
  firstByteMs: config.gatewayFirstByteSeconds * second,
  totalMs: config.gatewayTotalSeconds * second,
})

/**
 * One signal for the upstream, from the client that may leave and the two deadlines of the gateway
 * (to the first byte, and in all); it remembers which of them it was. To be ended.
 */
export class Watch implements EventListenerObject {
  cause: Cause | undefined
  private readonly controller = new AbortController()
  private timer: Timer
  private isBegun = false

  constructor(
    private readonly client: AbortSignal,
    { firstByteMs, totalMs }: Deadlines,
  ) {
    // Nearly all work is over before the first is due: the second needs no timer until then.
    const firstMs = Math.min(firstByteMs, totalMs)
    this.timer = setTimeout(firstIsDue, firstMs, this, totalMs - firstMs)
    client.addEventListener('abort', this)
    if (client.aborted) this.handleEvent()
  }

  /** The client has left. */
  handleEvent(): void {
    this.stop('client')
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  /** The first byte is there. */
  began(): void {
    this.isBegun = true
  }

  /** The deadline of the first byte has come; `leftMs` are left of that in all. */
  firstIsDue(leftMs: number): void {
    if (this.isBegun) this.timer = setTimeout(expire, leftMs, this)
    else expire(this)
  }

  /** Breaks the upstream's work off. The first cause stands. */
  stop(cause: Cause): void {
    if (this.cause) return
    this.cause = cause
    const name = cause === 'deadline' ? 'TimeoutError' : 'AbortError'
    this.controller.abort(new DOMException(cause, name))
    this.end()
  }

  /** The work is over: nothing is watched any more. */
  end(): void {
    clearTimeout(this.timer)
    this.client.removeEventListener('abort', this)
  }
}

const firstIsDue = (watch: Watch, leftMs: number): void => watch.firstIsDue(leftMs)
const expire = (watch: Watch): void => watch.stop('deadline')
