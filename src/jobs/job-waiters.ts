/** Who waits for a job to change, in this process. */
export class Waiting {
  private readonly byJob = new Map<string, Set<() => void>>()

  /** Begins to wait, for at most so many milliseconds; `stop` ends it early. */
  begin(job: string, ms: number, signal?: AbortSignal): { told: Promise<void>; stop(): void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiters = this.byJob.get(job) ?? new Set()
    const stop = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      waiters.delete(stop)
      if (waiters.size === 0) this.byJob.delete(job)
      resolve()
    }
    const timer = setTimeout(stop, ms)
    signal?.addEventListener('abort', stop)
    this.byJob.set(job, waiters.add(stop))
    return { told: promise, stop }
  }

  /** The job has changed: nobody waits for it any more. */
  tell(job: string): void {
    for (const stop of this.byJob.get(job) ?? []) stop()
  }
}
