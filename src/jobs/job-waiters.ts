import type { Signals } from '../kernel/db/signals.ts'

/** Callers in this process that wait for a job to change. */
export class JobWaiters {
  private readonly byJob = new Map<string, Set<() => void>>()

  constructor(private readonly signals?: Pick<Signals, 'on' | 'send'>) {
    signals?.on('job', (job) => {
      for (const id of job === undefined ? this.byJob.keys() : [job]) this.wake(id)
    })
  }

  /** Waits for a change of a job, at most `ms` milliseconds; `stop` ends the wait early. */
  begin(job: string, ms: number, signal?: AbortSignal): { changed: Promise<void>; stop(): void } {
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
    return { changed: promise, stop }
  }

  /** Ends all waits for a job, in all processes. */
  notify(job: string): void {
    this.wake(job)
    void this.signals?.send('job', job)
  }

  private wake(job: string): void {
    for (const stop of this.byJob.get(job) ?? []) stop()
  }
}
