import { ApiError } from '../errors.ts'
import { pdfPagesMax } from '../limits.ts'
import { FairQueue, PoolBusyError } from './fair-queue.ts'
import type { PdfRequest, PdfResult } from './pdf.worker.ts'

/** The limits for one PDF: time, additional memory of the process, and characters of text. */
export const bounds = { ms: 20_000, bytes: 512 * 1_048_576, charsMax: 4_000_000 }
const memoryCheckMs = 50
const queueBounds = {
  slots: 2,
  slotsPerClient: 1,
  waitingMax: 16,
  waitingBytesMax: 256 * 1_048_576,
  largeBytes: Infinity,
}

/** In the binary this file is part of main, so the path starts at the root. */
const workerFile = import.meta.url.endsWith('/core/pdf-reader.ts')
  ? './pdf.worker.ts'
  : './core/pdf.worker.ts'

const startWorker = (): Worker => new Worker(new URL(workerFile, import.meta.url))

/**
 * Reads the text of PDFs, each in its own worker that ends when it takes too long or too much
 * memory, so that a malicious file fails alone. Two are read at a time, of two clients.
 */
export class PdfReader {
  private readonly queue = new FairQueue(queueBounds)

  constructor(
    private readonly limits = bounds,
    private readonly start = startWorker,
  ) {}

  /** Reads up to `charsMax` characters, or with 0 only the number of pages. Throws `try_again`. */
  async read(bytes: Uint8Array, charsMax = this.limits.charsMax): Promise<PdfResult> {
    const read = () => this.readNow(new Uint8Array(bytes), charsMax)
    return this.queue.run(bytes.byteLength, read).catch((error: unknown) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', { why: 'too many PDFs are being read' })
    })
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
