import type { Engine } from '../kernel/db/engine.ts'
import { type Party, Turns } from '../kernel/turns.ts'
import type { Job } from './handler.ts'
import { queueConcurrency, queueConcurrencyPerOwner } from './limits.ts'
import * as rows from './rows.ts'
import type { Queue } from './tables.ts'

/** Due jobs of a queue that take turns at once. */
const candidatesMax = 256

interface ClaimRequest {
  queue: Queue
  kinds: string[]
  /** The owners of the running jobs. */
  owners: string[]
  /** Jobs that may start. */
  free: number
}

interface ClaimedJob {
  job: Job & rows.Leased
  endTurn: () => void
}

/**
 * Claims due jobs, so that networks and owners take turns: see `Turns`. None has more than half of
 * a queue, because a running job is not interrupted for those that come later.
 */
export class DueJobs {
  private readonly turns: Record<Queue, Turns> = {
    builds: new Turns(),
    assets: new Turns(),
    media: new Turns(),
    hooks: new Turns(),
    covers: new Turns(),
    batches: new Turns(),
  }

  constructor(private readonly ctx: rows.JobContext & { db: Engine }) {}

  /**
   * Claims at most `free` jobs. Returns undefined where none is due, and no job where other
   * processes were first.
   */
  async claim({ queue, kinds, owners, free }: ClaimRequest): Promise<ClaimedJob[] | undefined> {
    const counts = new Map<string, number>()
    const count = (owner: string) => counts.set(owner, (counts.get(owner) ?? 0) + 1)
    const isFull = (owner: string) => (counts.get(owner) ?? 0) >= queueConcurrencyPerOwner[queue]
    owners.forEach(count)
    const filter = { queue, kinds, full: [...counts.keys()].filter(isFull), limit: candidatesMax }
    const due = await rows.findDue(this.ctx.db.read, { ...filter, now: this.ctx.clock.now() })
    const turns = this.turns[queue]
    const claims: Promise<ClaimedJob[]>[] = []
    while (claims.length < free) {
      const ready = due.filter(
        (job) => !isFull(job.owner) && turns.hasShare(partyOf(job), queueConcurrency[queue]),
      )
      const next = ready[turns.next(ready, partyOf)]
      if (!next) break
      due.splice(due.indexOf(next), 1)
      count(next.owner)
      claims.push(this.claimOne(queue, next))
    }
    if (claims.length === 0) return undefined
    const results = await Promise.allSettled(claims)
    const claimed = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const failed = results.find(({ status }) => status === 'rejected')
    // What was claimed runs; the failure repeats with the next poll.
    if (failed?.status === 'rejected' && claimed.length === 0) throw failed.reason
    return claimed
  }

  private async claimOne(queue: Queue, due: rows.DueJob): Promise<ClaimedJob[]> {
    const endTurn = this.turns[queue].begin(partyOf(due))
    const job = await this.ctx.db
      .tx((tx) => rows.claimJob(this.ctx, tx, due))
      .catch((error: unknown) => {
        endTurn()
        throw error
      })
    if (job) return [{ job, endTurn }]
    endTurn()
    return []
  }
}

const partyOf = ({ network, owner }: rows.DueJob): Party => ({
  prefix: network ?? '',
  account: owner,
})
