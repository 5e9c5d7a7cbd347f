import { Refusal } from '../refusals.ts'
import type { Answer } from './inspect.worker.ts'
import type { Inspection, OwnBytes } from './inspection.ts'

/** Pages up to this size take well under 20 ms and are looked at where they are. */
const inlineBytesMax = 24 * 1_024
const pageMs = 10_000
const idleMs = 10_000
const workersMax = 2
const queueMax = 64
const queueBytesMax = 128 * 1_024 * 1_024

interface Job {
  bytes: OwnBytes
  done: PromiseWithResolvers<Inspection>
}

interface Hand {
  worker: Worker
  job: Job | undefined
  timer: Timer | undefined
}

/**
 * Where the worker's file is: beside this one, or below the root of the compiled binary, where
 * this file is part of main.
 */
const workerFile = import.meta.url.endsWith('/scan/inspect.ts')
  ? './inspect.worker.ts'
  : './scan/inspect.worker.ts'

const startWorker = (): Worker => new Worker(new URL(workerFile, import.meta.url))

/**
 * Looks at pages before they are kept: small ones at once, large ones in a small pool of workers,
 * so that the event loop never stands still for 20 ms. A page that takes too long, or a worker
 * that dies, costs its own page a `try_again`; the worker is replaced. Idle workers end, and none
 * keeps the process alive.
 */
export class Inspector {
  private readonly hands = new Set<Hand>()
  private readonly queue: Job[] = []
  private queuedBytes = 0
  private closed = false
  private readonly limits: { pageMs: number; idleMs: number }
  private readonly start: () => Worker

  constructor(limits: Partial<Inspector['limits']> = {}, start = startWorker) {
    this.limits = { pageMs, idleMs, ...limits }
    this.start = start
  }

  /** Looks at a page of at most 4 MB. Refuses with try_again when it cannot be done now. */
  async inspect(page: string | Uint8Array): Promise<Inspection> {
    const bytes = typeof page === 'string' ? new TextEncoder().encode(page) : page.slice()
    if (bytes.byteLength <= inlineBytesMax) {
      // The tokenisers are loaded with the first page, not with the house.
      const { inspectNow } = await import('./inspection.ts')
      return inspectNow(new Uint8Array(bytes))
    }
    const full = this.queue.length >= queueMax
    if (this.closed || full || this.queuedBytes + bytes.byteLength > queueBytesMax)
      throw tryAgain('too many pages are being looked at')
    const done = Promise.withResolvers<Inspection>()
    this.queue.push({ bytes, done })
    this.queuedBytes += bytes.byteLength
    this.next()
    return done.promise
  }

  /** Ends all workers; what is not finished is refused with try_again. */
  async close(): Promise<void> {
    this.closed = true
    for (const job of this.queue.splice(0)) job.done.reject(tryAgain('the service is stopping'))
    for (const hand of this.hands) this.drop(hand, 'the service is stopping')
  }

  private next(): void {
    if (this.closed || this.queue.length === 0) return
    const hand = [...this.hands].find(({ job }) => !job) ?? this.hire()
    const job = hand && this.queue.shift()
    if (!hand || !job) return
    this.queuedBytes -= job.bytes.byteLength
    clearTimeout(hand.timer)
    hand.job = job
    hand.timer = setTimeout(() => this.drop(hand, 'it took too long'), this.limits.pageMs)
    hand.worker.postMessage(job.bytes, [job.bytes.buffer])
  }

  private hire(): Hand | undefined {
    if (this.hands.size >= workersMax) return undefined
    const hand: Hand = { worker: this.start(), job: undefined, timer: undefined }
    hand.worker.unref()
    hand.worker.onmessage = (event: MessageEvent<Answer>) => this.finish(hand, event.data)
    hand.worker.onerror = (event) => {
      event.preventDefault()
      this.drop(hand, event.message)
    }
    hand.worker.addEventListener('close', () => this.drop(hand, 'its worker ended'))
    this.hands.add(hand)
    return hand
  }

  private finish(hand: Hand, answer: Answer): void {
    const { job } = hand
    hand.job = undefined
    clearTimeout(hand.timer)
    hand.timer = setTimeout(() => this.drop(hand, 'idle'), this.limits.idleMs)
    hand.timer.unref()
    if ('fault' in answer) job?.done.reject(new Error(answer.fault))
    else job?.done.resolve(answer.inspection)
    this.next()
  }

  private drop(hand: Hand, why: string): void {
    if (!this.hands.delete(hand)) return
    clearTimeout(hand.timer)
    hand.worker.terminate()
    hand.job?.done.reject(tryAgain(why))
    this.next()
  }
}

const tryAgain = (why: string): Refusal =>
  new Refusal('try_again', { why: `The page could not be looked at: ${why}.` })
