import type { Engine } from '../db/engine.ts'
import { addCalls, findWindows } from '../db/replicas/windows.ts'
import { opensAt, type RateLimit, type RateWindow } from '../rate-limit.ts'
import { type Clock, secondsUntil } from '../time.ts'

/** A RateLimit, or one that counts the calls of all processes of the database. */
export type StrictLimit = Pick<RateLimit, 'max' | 'rejected' | 'windowMs'> & {
  take(key: string, calls?: number): number | undefined | Promise<number | undefined>
  giveBack(key: string, calls?: number): void | Promise<void>
  left(key: string): { calls: number } | Promise<{ calls: number }>
}

/**
 * Counts calls as RateLimit does, in the database, so that the limit holds exactly for all
 * processes. Each call costs a transaction: use it for rare and small limits.
 */
export class SharedRateLimit implements StrictLimit {
  rejected = 0

  constructor(
    private readonly ctx: { db: Engine; clock: Clock },
    private readonly name: string,
    readonly max: number,
    readonly windowMs: number,
  ) {}

  /** Counts `calls` together, or none of them. Returns the seconds to wait, as RateLimit does. */
  async take(key: string, calls = 1): Promise<number | undefined> {
    if (this.max === 0) return undefined
    const window = await this.add(key, calls)
    const at = this.ctx.clock.now()
    if (this.used(window, at) <= this.max) return undefined
    this.rejected += 1
    const left = await this.add(key, -calls)
    return secondsUntil(opensAt(left, this.max - calls + 1, this.windowMs), at)
  }

  async giveBack(key: string, calls = 1): Promise<void> {
    if (this.max > 0) await this.add(key, -calls)
  }

  async left(key: string): Promise<{ calls: number }> {
    const [window] = await findWindows(this.ctx.db.read, [this.nameOf(key)])
    const used = window ? this.used(window, this.ctx.clock.now()) : 0
    return { calls: Math.max(0, Math.floor(this.max - used)) }
  }

  private used({ start, now, before }: RateWindow, at: number): number {
    const age = Math.max(0, (at - start) / this.windowMs)
    if (age < 1) return before * (1 - age) + now
    return age < 2 ? now * (2 - age) : 0
  }

  private async add(key: string, calls: number): Promise<RateWindow> {
    const { db, clock } = this.ctx
    const added = { name: this.nameOf(key), calls, windowMs: this.windowMs, at: clock.now() }
    const [window] = await db.tx((tx) => addCalls(tx, [added]))
    return window ?? { start: added.at, now: 0, before: 0 }
  }

  private nameOf = (key: string): string => `${this.name} ${key}`
}
