import { second } from '../../core/time.ts'

export type InterruptionCause = 'client' | 'deadline'

export interface DeadlineSettings {
  firstByteMs: number
  totalMs: number
}

export const deadlineSettingsOf = (config: {
  gatewayFirstByteSeconds: number
  gatewayTotalSeconds: number
}): DeadlineSettings => ({
  firstByteMs: config.gatewayFirstByteSeconds * second,
  totalMs: config.gatewayTotalSeconds * second,
})

/**
 * One abort signal for an upstream call: the client leaves, or a deadline passes (to the first
 * byte, and in total). Remembers the first cause. The caller ends it. Timers count monotonic time.
 */
export class CallDeadlines implements EventListenerObject {
  cause: InterruptionCause | undefined
  private readonly controller = new AbortController()
  private timer: Timer
  private hasFirstByte = false

  constructor(
    private readonly client: AbortSignal,
    { firstByteMs, totalMs }: DeadlineSettings,
  ) {
    // Most calls end before the first deadline, so the second timer starts only then.
    const firstMs = Math.min(firstByteMs, totalMs)
    this.timer = setTimeout(checkFirstByte, firstMs, this, totalMs - firstMs)
    client.addEventListener('abort', this)
    if (client.aborted) this.handleEvent()
  }

  handleEvent(): void {
    this.stop('client')
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  markFirstByte(): void {
    this.hasFirstByte = true
  }

  /** Handles the deadline of the first byte; `leftMs` remain until the total deadline. */
  checkFirstByte(leftMs: number): void {
    if (this.hasFirstByte) this.timer = setTimeout(expire, leftMs, this)
    else expire(this)
  }

  /** Aborts the upstream call, unless another cause was first. */
  stop(cause: InterruptionCause): void {
    if (this.cause) return
    this.cause = cause
    const name = cause === 'deadline' ? 'TimeoutError' : 'AbortError'
    this.controller.abort(new DOMException(cause, name))
    this.end()
  }

  end(): void {
    clearTimeout(this.timer)
    this.client.removeEventListener('abort', this)
  }
}

const checkFirstByte = (call: CallDeadlines, leftMs: number): void => call.checkFirstByte(leftMs)
const expire = (call: CallDeadlines): void => call.stop('deadline')
