import { SerialQueue } from '../fair-queue.ts'

/** Rows and bytes that a write adds. */
export interface Addition {
  rows: number
  bytes: number
}

/** The running writes of an owner. */
interface Owner {
  checks: SerialQueue
  /** Writes that run or wait for their check. */
  writes: number
  added: Addition
}

/**
 * Counts the rows and bytes that running writes will add to the quota of an owner. Each write is
 * checked beside those that run, before its bytes are stored, so parallel writes keep the quota. A
 * failure or a crash ends the reservation. The transaction of a write checks the quota again, which
 * is exact for several servers.
 */
export class Reservations {
  private readonly owners = new Map<string, Owner>()

  /** The owners with running writes. */
  get size(): number {
    return this.owners.size
  }

  /**
   * Reserves after `check`, which throws where the owner has no space beside `others`. The checks
   * of one owner run one after another. Those of another owner do not wait for them. Returns what
   * ends the reservation.
   */
  async begin(
    name: string,
    { rows, bytes }: Addition,
    check: (others: Addition) => Promise<void>,
  ): Promise<() => void> {
    const owner = this.owners.get(name) ?? newOwner()
    this.owners.set(name, owner)
    owner.writes += 1
    const end = (): void => {
      owner.writes -= 1
      if (owner.writes === 0) this.owners.delete(name)
    }
    const add = (sign: 1 | -1): void => {
      const { added } = owner
      owner.added = { rows: added.rows + sign * rows, bytes: added.bytes + sign * bytes }
    }
    try {
      await owner.checks.run(async () => {
        await check(owner.added)
        add(1)
      })
    } catch (error) {
      end()
      throw error
    }
    return () => {
      add(-1)
      end()
    }
  }
}

/** Runs `write` after a reservation has begun, and ends it. */
export async function withReservation<Result>(
  begun: Promise<() => void>,
  write: () => Promise<Result>,
): Promise<Result> {
  const end = await begun
  try {
    return await write()
  } finally {
    end()
  }
}

const newOwner = (): Owner => ({
  checks: new SerialQueue(),
  writes: 0,
  added: { rows: 0, bytes: 0 },
})
