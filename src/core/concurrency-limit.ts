/** Counts what runs at once, by key, and allows at most `max` of each. `max` 0 allows
 * any number. */
export class ConcurrencyLimit {
  private readonly running = new Map<string, number>()
  /** Rejected calls since the start, for metrics. */
  rejected = 0

  constructor(public max: number) {}

  /** Counts one more and returns the function that ends it; undefined where `max` already run. */
  begin(key: string): (() => void) | undefined {
    const count = this.running.get(key) ?? 0
    if (this.max > 0 && count >= this.max) {
      this.rejected += 1
      return undefined
    }
    this.running.set(key, count + 1)
    return () => {
      const left = (this.running.get(key) ?? 1) - 1
      if (left > 0) this.running.set(key, left)
      else this.running.delete(key)
    }
  }
}
