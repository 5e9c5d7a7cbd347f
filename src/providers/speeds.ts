import { LRUCache } from 'lru-cache'

/** Weight of a new measurement in the moving average. */
const weight = 0.2
const entriesMax = 10_000

/** Measured output tokens per second, by upstream and model. `:nitro` sorts by them. */
export class Speeds {
  private readonly measured = new LRUCache<string, number>({ max: entriesMax })

  /** Records a response of `tokens` output tokens that took `ms` milliseconds. */
  record(upstream: string, model: string, tokens: number, ms: number): void {
    if (tokens <= 0 || ms <= 0) return
    const key = `${upstream} ${model}`
    const speed = (tokens * 1_000) / ms
    const before = this.measured.get(key)
    this.measured.set(key, before === undefined ? speed : before + weight * (speed - before))
  }

  /** Returns the average; 0 before the first measurement. */
  tokensPerSecond(upstream: string, model: string): number {
    return this.measured.get(`${upstream} ${model}`) ?? 0
  }
}
