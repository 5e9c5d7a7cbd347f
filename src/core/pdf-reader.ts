import { ApiError } from '../errors.ts'
import { pdfPagesMax } from '../limits.ts'
import type { PdfRequest, PdfResult } from './pdf.worker.ts'

/** The limits for one PDF: time, additional memory of the process, and characters of text. */
export const bounds = { ms: 20_000, bytes: 512 * 1_048_576, charsMax: 4_000_000 }
const readersMax = 2
const waitingMax = 16
const memoryCheckMs = 50

/** A queued PDF. */
interface QueuedRead {
  account: string
  start: () => void
  reject: (error: ApiError) => void
}

/** In the binary this file is part of main, so the path starts at the root. */
const workerFile = import.meta.url.endsWith('/core/pdf-reader.ts')
  ? './pdf.worker.ts'
  : './core/pdf.worker.ts'

const startWorker = (): Worker => new Worker(new URL(workerFile, import.meta.url))

/**
 * Reads the text of PDFs, each in its own worker that ends when it takes too long or too much
 * memory, so that a malicious file fails alone. Two are read at a time, of two accounts. A full
 * queue drops reads of the account with the most.
 */
export class PdfReader {
  /** The accounts whose PDFs are being read. */
  private readonly running: string[] = []
  private readonly waiting: QueuedRead[] = []

  constructor(
    private readonly limits = bounds,
    private readonly start = startWorker,
  ) {}

  /** Reads up to `charsMax` characters, or with 0 only the number of pages. Throws `try_again`. */
  async read(
    bytes: Uint8Array,
    account: string,
    charsMax = this.limits.charsMax,
  ): Promise<PdfResult> {
    if (this.running.length < readersMax && this.mayRun(account)) this.running.push(account)
    else await this.wait(account)
    try {
      return await this.readNow(new Uint8Array(bytes), charsMax)
    } finally {
      this.running.splice(this.running.indexOf(account), 1)
      const at = this.waiting.findIndex((one) => this.mayRun(one.account))
      for (const next of at < 0 ? [] : this.waiting.splice(at, 1)) {
        this.running.push(next.account)
        next.start()
      }
    }
  }

  /** An account has one reader at a time, so that it cannot keep others waiting. */
  private mayRun(account: string): boolean {
    return !this.running.includes(account)
  }

  private async wait(account: string): Promise<void> {
    if (this.waiting.length >= waitingMax) this.dropOne(account)
    const { promise, resolve: start, reject } = Promise.withResolvers<void>()
    this.waiting.push({ account, start, reject })
    return promise
  }

  /** Drops the newest read of the account with the most. Throws `try_again` if that is this one. */
  private dropOne(account: string): void {
    const error = new ApiError('try_again', { why: 'too many PDFs are being read' })
    const countOf = (one: string): number => this.waiting.filter((it) => it.account === one).length
    const counts = this.waiting.map((one) => countOf(one.account))
    const most = Math.max(...counts)
    if (most <= countOf(account) + 1) throw error
    for (const { reject } of this.waiting.splice(counts.lastIndexOf(most), 1)) reject(error)
  }

  private async readNow(bytes: Uint8Array<ArrayBuffer>, charsMax: number): Promise<PdfResult> {
    const { promise, resolve } = Promise.withResolvers<PdfResult>()
    const worker = this.start()
    worker.unref()
    worker.onmessage = ({ data }: MessageEvent<PdfResult>) => resolve(data)
    worker.onerror = (event) => {
      event.preventDefault()
      resolve({ unreadable: 'it is damaged' })
    }
    worker.addEventListener('close', () => resolve({ unreadable: 'it is damaged' }))
    const before = process.memoryUsage.rss()
    const timeout = setTimeout(() => resolve({ unreadable: 'it takes too long' }), this.limits.ms)
    const memoryCheck = setInterval(() => {
      if (process.memoryUsage.rss() - before < this.limits.bytes) return
      resolve({ unreadable: 'it takes too much memory' })
    }, memoryCheckMs)
    try {
      const request: PdfRequest = { bytes, pagesMax: pdfPagesMax, charsMax }
      worker.postMessage(request, [bytes.buffer])
      return await promise
    } finally {
      clearTimeout(timeout)
      clearInterval(memoryCheck)
      worker.terminate()
    }
  }
}
