import type { Clock } from './time.ts'

/** Returns a function that creates a value with its first call and then returns that one. */
export function lazy<Value>(create: () => Value): () => Value {
  let value: Value | undefined
  return () => (value ??= create())
}

/** Returns a function that creates one value for each owner, such as a database. */
export function lazyFor<Owner extends WeakKey, Value extends NonNullable<unknown>>(
  create: (owner: Owner) => Value,
): (owner: Owner) => Value {
  const values = new WeakMap<Owner, Value>()
  return (owner) => {
    const known = values.get(owner)
    if (known !== undefined) return known
    const value = create(owner)
    values.set(owner, value)
    return value
  }
}

/**
 * The result of asynchronous work that runs once per process: all callers share it. For `restMs`
 * after the start of failed work callers get its error; the next call then runs the work again.
 */
export class SharedResult<Value> {
  private result: Promise<Value> | undefined
  private retryAt = Number.POSITIVE_INFINITY

  constructor(
    private readonly clock: Clock,
    private readonly restMs = 0,
  ) {}

  get(work: () => Promise<Value>): Promise<Value> {
    if (this.result && this.clock.now() < this.retryAt) return this.result
    const startedAt = this.clock.now()
    this.retryAt = Number.POSITIVE_INFINITY
    this.result = work().catch((error: unknown) => {
      this.retryAt = startedAt + this.restMs
      throw error
    })
    return this.result
  }
}
