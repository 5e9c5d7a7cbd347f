import { ApiError } from '../errors.ts'
import { pdfPagesMax } from '../limits.ts'
import type { Asked, PdfAnswer } from './pdf.worker.ts'

/** What one PDF may take: time, memory beyond what the process had, and characters of words. */
export const bounds = { ms: 20_000, bytes: 512 * 1_048_576, charsMax: 4_000_000 }
const readersMax = 2
const waitingMax = 16
const lookEveryMs = 50

/** Who waits for a reader. */
interface Waiter {
  account: string
  begin: () => void
  refuse: (refusal: ApiError) => void
}

/** Beside this file, or below the root of the compiled binary, where this file is part of main. */
const workerFile = import.meta.url.endsWith('/core/pdf-reader.ts')
  ? './pdf.worker.ts'
  : './core/pdf.worker.ts'

const startWorker = (): Worker => new Worker(new URL(workerFile, import.meta.url))

/**
 * Reads the words of PDFs, each in a worker of its own that is ended when it takes too long or too
 * much memory, so that a bomb costs its own upload and nothing else. Two are read at a time, of two
 * accounts, and where many wait, those of one account leave room for others.
 */
export class PdfReader {
  /** Whose are read, and whose wait, the first first. */
  private readonly running: string[] = []
  private readonly waiting: Waiter[] = []

  constructor(
    private readonly limits = bounds,
    private readonly start = startWorker,
  ) {}

  /** Of its words at most `charsMax` are read: 0 for its pages alone. Refuses try_again. */
  async read(
    bytes: Uint8Array,
    account: string,
    charsMax = this.limits.charsMax,
  ): Promise<PdfAnswer> {
    if (this.running.length < readersMax && this.mayRun(account)) this.running.push(account)
    else await this.turn(account)
    try {
      return await this.readNow(new Uint8Array(bytes), charsMax)
    } finally {
      this.running.splice(this.running.indexOf(account), 1)
      const at = this.waiting.findIndex((one) => this.mayRun(one.account))
      for (const next of at < 0 ? [] : this.waiting.splice(at, 1)) {
        this.running.push(next.account)
        next.begin()
      }
    }
  }

  /** An account has one reader: who comes meanwhile need not wait for all that it sent. */
  private mayRun(account: string): boolean {
    return !this.running.includes(account)
  }

  private async turn(account: string): Promise<void> {
    if (this.waiting.length >= waitingMax) this.makeRoom(account)
    const { promise, resolve: begin, reject: refuse } = Promise.withResolvers<void>()
    this.waiting.push({ account, begin, refuse })
    return promise
  }

  /** The newest of whoever has most waiting gives way to an account with fewer. */
  private makeRoom(account: string): void {
    const refusal = new ApiError('try_again', { why: 'too many PDFs are being read' })
    const countOf = (one: string): number => this.waiting.filter((it) => it.account === one).length
    const counts = this.waiting.map((one) => countOf(one.account))
    const most = Math.max(...counts)
    if (most <= countOf(account) + 1) throw refusal
    for (const { refuse } of this.waiting.splice(counts.lastIndexOf(most), 1)) refuse(refusal)
  }

  private async readNow(bytes: Uint8Array<ArrayBuffer>, charsMax: number): Promise<PdfAnswer> {
    const { promise, resolve } = Promise.withResolvers<PdfAnswer>()
    const worker = this.start()
    worker.unref()
    worker.onmessage = ({ data }: MessageEvent<PdfAnswer>) => resolve(data)
    worker.onerror = (event) => {
      event.preventDefault()
      resolve({ unreadable: 'it is damaged' })
    }
    worker.addEventListener('close', () => resolve({ unreadable: 'it is damaged' }))
    const before = process.memoryUsage.rss()
    const late = setTimeout(() => resolve({ unreadable: 'it takes too long' }), this.limits.ms)
    const look = setInterval(() => {
      if (process.memoryUsage.rss() - before < this.limits.bytes) return
      resolve({ unreadable: 'it takes too much memory' })
    }, lookEveryMs)
    try {
      const asked: Asked = { bytes, pagesMax: pdfPagesMax, charsMax }
      worker.postMessage(asked, [bytes.buffer])
      return await promise
    } finally {
      clearTimeout(late)
      clearInterval(look)
      worker.terminate()
    }
  }
}
