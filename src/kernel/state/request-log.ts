/** A request as the console shows it. */
export interface LoggedRequest {
  /** Counts all requests of the log from 1. */
  number: number
  id: string
  /** Milliseconds since 1970, at the response. */
  at: number
  method: string
  /** The route's pattern, or the path of a request that has none. */
  route: string
  status: number
  /** Milliseconds until the response began. */
  ms: number
  key: string | undefined
  account: string | undefined
  address: string
  /** The name of the error, or the message of an unexpected one. */
  cause: string | undefined
}

/**
 * The newest requests of this process. The slots are objects that exist from the start and are
 * written again, so that a request allocates nothing.
 */
export class RequestLog {
  private readonly slots: LoggedRequest[]
  private total = 0

  constructor(size: number) {
    this.slots = Array.from({ length: size }, emptySlot)
  }

  add(request: Omit<LoggedRequest, 'number'>): void {
    const slot = this.slots[this.total % this.slots.length]
    this.total += 1
    if (!slot) return
    slot.number = this.total
    slot.id = request.id
    slot.at = request.at
    slot.method = request.method
    slot.route = request.route
    slot.status = request.status
    slot.ms = request.ms
    slot.key = request.key
    slot.account = request.account
    slot.address = request.address
    slot.cause = request.cause
  }

  /** Returns copies of the newest requests that match, newest first. */
  newest(max: number, matches: (request: LoggedRequest) => boolean): LoggedRequest[] {
    const found: LoggedRequest[] = []
    const first = Math.max(0, this.total - this.slots.length)
    for (let at = this.total - 1; at >= first && found.length < max; at -= 1) {
      const slot = this.slots[at % this.slots.length]
      if (slot && matches(slot)) found.push({ ...slot })
    }
    return found
  }
}

const emptySlot = (): LoggedRequest => ({
  number: 0,
  id: '',
  at: 0,
  method: '',
  route: '',
  status: 0,
  ms: 0,
  key: undefined,
  account: undefined,
  address: '',
  cause: undefined,
})
