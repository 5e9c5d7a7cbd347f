/** A restartable timer. `passed` rejects with `Late` after `ms` milliseconds without `restart`. */
export class Deadline {
  readonly passed: Promise<never>
  readonly #timer: Timer

  constructor(
    readonly ms: number,
    Late: new (text: string) => Error = Error,
  ) {
    const { promise, reject } = Promise.withResolvers<never>()
    this.passed = promise
    this.#timer = setTimeout(() => {
      reject(new Late(`A transaction did not finish in ${ms} ms and was rolled back.`))
    }, ms)
  }

  restart(): void {
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
