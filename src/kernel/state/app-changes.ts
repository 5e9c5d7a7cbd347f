import type { Signals } from '../db/signals.ts'

/**
 * Counts the changes of apps on a PostgreSQL database, by any process, so that a cached page is
 * compared with its app after each. SQLite counts its commits instead.
 */
export class AppChanges {
  count = 0

  constructor(private readonly signals: Signals) {
    signals.on('apps', () => this.add())
    // A build publishes at its end.
    signals.on('job', () => this.add())
  }

  /** Counts a committed change here and in other processes. Resolves when the signal is sent. */
  async announce(): Promise<void> {
    this.add()
    await this.signals.send('apps')
  }

  private add(): void {
    this.count += 1
  }
}
