/** Limit of opens that wait to be written. Further ones are not counted. */
const opensMax = 10_000

/** One open of an app from an address. `at` is milliseconds since 1970. */
export interface PendingOpen {
  app: string
  at: number
  address: string
}

/** Opens of apps since the last write: one for each app and address. */
export class PendingOpens {
  private opens = new Map<string, PendingOpen>()

  add(open: PendingOpen): void {
    const key = `${open.app} ${open.address}`
    if (this.opens.size < opensMax && !this.opens.has(key)) this.opens.set(key, open)
  }

  /** Returns all and forgets them. */
  takeAll(): PendingOpen[] {
    const all = [...this.opens.values()]
    this.opens = new Map()
    return all
  }
}
