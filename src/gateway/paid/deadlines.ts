import { second } from '../../kernel/time.ts'

export type InterruptionCause = 'client' | 'deadline' | 'shutdown'

export interface DeadlineSettings {
  firstByteMs: number
  totalMs: number
  /** Aborts when the server stops and no longer waits for the call. */
  shutdown?: AbortSignal
}

export const deadlineSettingsOf = ({
  config,
  state,
}: {
  config: { gatewayFirstByteSeconds: number; gatewayTotalSeconds: number }
  state: { shutdown: AbortController }
}): DeadlineSettings => ({
  firstByteMs: config.gatewayFirstByteSeconds * second,
  totalMs: config.gatewayTotalSeconds * second,
  shutdown: state.shutdown.signal,
})

/**
 * One abort signal for an upstream call: the client leaves, a deadline passes (to the first byte,
 * and in total), or the server stops. Remembers the first cause. The caller ends it. Timers count
 * monotonic time.
 */
export class CallDeadlines implements EventListenerObject {
  cause: InterruptionCause | undefined
  private readonly controller = new AbortController()
  private timer: Timer
  private readonly shutdown: AbortSignal | undefined
  private hasFirstByte = false

  constructor(
    private readonly client: AbortSignal,
    { firstByteMs, totalMs, shutdown }: DeadlineSettings,
  ) {
    this.shutdown = shutdown
    // Most calls end before the first deadline, so the second timer starts only then.
    const firstMs = Math.min(firstByteMs, totalMs)
    this.timer = setTimeout(checkFirstByte, firstMs, this, totalMs - firstMs)
    client.addEventListener('abort', this)
    shutdown?.addEventListener('abort', this)
    if (client.aborted || shutdown?.aborted) this.handleEvent()
  }

  handleEvent(): void {
    this.stop(this.shutdown?.aborted ? 'shutdown' : 'client')
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
    this.shutdown?.removeEventListener('abort', this)
  }
}

const checkFirstByte = (call: CallDeadlines, leftMs: number): void => call.checkFirstByte(leftMs)
const expire = (call: CallDeadlines): void => call.stop('deadline')
