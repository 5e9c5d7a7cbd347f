import type { Signals } from '../db/signals.ts'

/** Streams of notes in this process. They sleep until a note of their agent is committed. */
export class NoteSignals {
  private readonly listeners = new Map<string, Set<() => void>>()
  private timer: ReturnType<typeof setInterval> | undefined

  constructor(private readonly signals?: Pick<Signals, 'on' | 'send' | 'isLive'>) {
    signals?.on('notes', (agent) => (agent === undefined ? this.notifyAll() : this.notify(agent)))
  }

  /** Returns whether notes that other processes write arrive here. */
  get isLive(): boolean {
    return this.signals?.isLive ?? false
  }

  /** Wakes the streams of an agent in all processes. Call it after the commit of a note. */
  send(agent: string): void {
    this.notify(agent)
    void this.signals?.send('notes', agent)
  }

  /**
   * Calls `listener` for each note of an agent. One timer calls `poll` every `ms` milliseconds
   * while any stream is open. Returns the function that ends both.
   */
  subscribe(agent: string, listener: () => void, poll: () => void, ms: number): () => void {
    const own = this.listeners.get(agent) ?? new Set()
    this.listeners.set(agent, own.add(listener))
    this.timer ??= setInterval(poll, ms)
    return () => {
      own.delete(listener)
      if (own.size === 0 && this.listeners.get(agent) === own) this.listeners.delete(agent)
      if (this.listeners.size > 0) return
      clearInterval(this.timer)
      this.timer = undefined
    }
  }

  notify(agent: string): void {
    for (const listener of this.listeners.get(agent) ?? []) listener()
  }

  notifyAll(): void {
    for (const agent of this.listeners.keys()) this.notify(agent)
  }
}
