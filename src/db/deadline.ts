/** A moment that every `restart` puts off. When it comes, what races with `passed` is rejected. */
export class Deadline {
  readonly passed: Promise<never>
  readonly #timer: Timer

  constructor(
    readonly ms: number,
    Late: new (text: string) => Error = Error,
  ) {
    const { promise, reject } = Promise.withResolvers<never>()
    const late = new Late(`A unit of work did not finish in ${ms} ms; it was undone.`)
    this.passed = promise
    this.#timer = setTimeout(() => reject(late), ms)
  }

  restart(): void {
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
