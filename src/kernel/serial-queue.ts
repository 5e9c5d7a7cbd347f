/** Runs asynchronous work in the order it arrives, one piece at a time. A failure stops nothing. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve()

  run<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.last.then(work)
    this.last = result.catch(() => undefined)
    return result
  }
}
