import { LRUCache } from 'lru-cache'

/** A new measure counts this much; the rest is what was measured before. */
const weight = 0.2
const keptMax = 10_000

/** Output tokens a second, as measured, of a model at an upstream: what `:nitro` sorts by. */
export class Speeds {
  private readonly measured = new LRUCache<string, number>({ max: keptMax })

  /** Counts one answer of `tokens` output tokens that took `ms`. */
  record(upstream: string, model: string, tokens: number, ms: number): void {
    if (tokens <= 0 || ms <= 0) return
    const key = `${upstream} ${model}`
    const speed = (tokens * 1_000) / ms
    const before = this.measured.get(key)
    this.measured.set(key, before === undefined ? speed : before + weight * (speed - before))
  }

  /** Tokens a second; 0 when nothing was measured yet. */
  tokensPerSecond(upstream: string, model: string): number {
    return this.measured.get(`${upstream} ${model}`) ?? 0
  }
}
