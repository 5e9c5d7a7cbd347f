import { SerialQueue } from '../core/serial-queue.ts'

/** Rows and bytes that a write adds. */
export interface Addition {
  rows: number
  bytes: number
}

/**
 * Counts the rows and bytes that running writes will add to the quota of an owner. Each write is
 * checked beside those that run, before its bytes are stored, so parallel writes keep the quota. A
 * failure or a crash ends the reservation. The transaction of a write checks the quota again, which
 * is exact for several servers.
 */
export class Reservations {
  private readonly open = new Map<string, Addition>()
  private readonly checks = new SerialQueue()

  /** Runs `write` after `check`, which throws where the owner has no space beside `others`. */
  async run<Result>(
    owner: string,
    addition: Addition,
    check: (others: Addition) => Promise<void>,
    write: () => Promise<Result>,
  ): Promise<Result> {
    await this.checks.run(async () => {
      await check(this.open.get(owner) ?? { rows: 0, bytes: 0 })
      this.add(owner, addition)
    })
    try {
      return await write()
    } finally {
      this.add(owner, { rows: -addition.rows, bytes: -addition.bytes })
    }
  }

  private add(owner: string, { rows, bytes }: Addition): void {
    const before = this.open.get(owner) ?? { rows: 0, bytes: 0 }
    const after = { rows: before.rows + rows, bytes: before.bytes + bytes }
    if (after.rows === 0 && after.bytes === 0) this.open.delete(owner)
    else this.open.set(owner, after)
  }
}
