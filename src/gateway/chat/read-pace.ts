/** The time in which streams are counted, and the longest time between two reads of a stream. */
const windowMs = 40
/** Time between two reads of a stream for each stream that is read: 500 wake-ups a second. */
const msPerStream = 2

/**
 * The time between two reads of a stream. It grows with the number of streams that are read: waking
 * up for an event costs more than all other work on it, so events of a busy process are read
 * together. The first event of a stream does not wait (docs/decisions/0107).
 */
export class ReadPace {
  private startedAt = 0
  private streams = 0
  private pauseMs = msPerStream
  private batch: Promise<void> | undefined

  /** Counts a stream that was last read at `readAt`. Returns whether its next read must wait. */
  isTooFast(readAt: number, now: number): boolean {
    const ms = now - this.startedAt
    if (ms >= windowMs) {
      const pauseMs = ((this.streams * windowMs) / ms) * msPerStream
      this.pauseMs = Math.min(Math.max(pauseMs, msPerStream), windowMs)
      this.startedAt = now
      this.streams = 0
    }
    if (readAt < this.startedAt) this.streams += 1
    return now - readAt < this.pauseMs
  }

  /** Returns the end of the current batch. All streams share it and its timer. */
  endOfBatch(): Promise<void> {
    const end = (): void => void (this.batch = undefined)
    return (this.batch ??= Bun.sleep(this.pauseMs).then(end))
  }
}
