import { rejectRequest } from '../errors.ts'
import { type Clock, monotonic, second } from '../time.ts'

/** Milliseconds that a body may pause, and that it may take before its rate counts. */
const pauseMs = 15 * second
/** Bytes in a second, as the average of a body. A slow phone sends twice as many. */
const rateMin = 32_768
const checkMs = second

interface Arrival {
  startedAt: number
  lastAt: number
  bytes: number
  end(): void
}

/**
 * Reads bodies as they arrive and ends those that are too slow, because each holds bytes that
 * others wait for.
 */
export class BodyArrivals {
  private readonly open = new Set<Arrival>()
  private timer: Timer | undefined

  constructor(private readonly clock: Clock) {}

  /** Yields the chunks of a body. Throws `bad_request` when it is too slow. */
  async *read(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
    const reader = body.getReader()
    const startedAt = monotonic(this.clock)
    let isSlow = false
    const cancel = (): void => void reader.cancel().catch(() => undefined)
    const end = (): void => {
      isSlow = true
      cancel()
    }
    const arrival: Arrival = { startedAt, lastAt: startedAt, bytes: 0, end }
    this.open.add(arrival)
    this.timer ??= setInterval(() => this.endSlow(), checkMs).unref()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (isSlow) rejectRequest(tooSlow)
        if (done) return
        arrival.lastAt = monotonic(this.clock)
        arrival.bytes += value.byteLength
        yield value
      }
    } finally {
      this.open.delete(arrival)
      if (this.open.size === 0) this.stop()
      cancel()
    }
  }

  /** Ends the bodies that paused for too long or whose average rate is too low. */
  endSlow(): void {
    const now = monotonic(this.clock)
    for (const { startedAt, lastAt, bytes, end } of this.open) {
      const ms = now - startedAt
      const isTooSlow = ms > pauseMs && (bytes / ms) * second < rateMin
      if (isTooSlow || now - lastAt > pauseMs) end()
    }
  }

  private stop(): void {
    clearInterval(this.timer)
    this.timer = undefined
  }
}

const tooSlow = `The body arrived too slowly: less than ${rateMin / 1_024} KB a second, or nothing for ${pauseMs / second} seconds. Send it again over a faster connection.`
