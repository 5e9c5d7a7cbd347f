import { realtimeQueueBytesMax } from '../limits.ts'

/** A connection whose reading can pause. */
interface Source {
  pause(): void
  resume(): void
}

/**
 * Events of one direction of a session, handled one at a time. Its source is paused while too many
 * bytes wait, so that a slow reader slows the writer down.
 */
export class EventQueue {
  private waiting: string[] = []
  private bytes = 0
  private isRunning = false
  private isPaused = false
  private isClosed = false

  constructor(
    private readonly source: Source,
    private readonly handle: (text: string) => Promise<void>,
  ) {}

  push(text: string): void {
    if (this.isClosed) return
    this.waiting.push(text)
    this.bytes += text.length
    if (!this.isRunning) void this.run()
    else if (this.bytes > realtimeQueueBytesMax && !this.isPaused) {
      this.isPaused = true
      this.source.pause()
    }
  }

  /** Drops what waits. */
  close(): void {
    this.isClosed = true
    this.waiting = []
  }

  private async run(): Promise<void> {
    this.isRunning = true
    for (let text = this.waiting.shift(); text !== undefined; text = this.waiting.shift()) {
      this.bytes -= text.length
      if (this.isPaused && this.bytes <= realtimeQueueBytesMax) {
        this.isPaused = false
        this.source.resume()
      }
      await this.handle(text)
    }
    this.isRunning = false
  }
}
