import type { CallToolResult } from '@modelcontextprotocol/server'

import { SerialQueue } from '../../kernel/fair-queue.ts'
import { mcpBatchResponseBytesMax } from '../../kernel/limits.ts'

/** The messages of a JSON-RPC batch share a budget of response bytes and run one by one. */
export class Batch {
  private bytes = 0
  private readonly queue = new SerialQueue()

  /** Counts the bytes of a response. Returns false where the budget is spent. */
  spend(bytes: number): boolean {
    if (this.bytes >= mcpBatchResponseBytesMax) return false
    this.bytes += bytes
    return true
  }

  /** Runs a call after the ones before it and counts its result. Undefined: the budget is spent. */
  run(call: () => Promise<CallToolResult>): Promise<CallToolResult | undefined> {
    return this.queue.run(async () => {
      if (!this.spend(0)) return undefined
      const result = await call()
      const [text] = result.content
      // A result is there twice: as text and structured.
      this.spend(text?.type === 'text' ? 2 * text.text.length : 0)
      return result
    })
  }
}

export const spentMessage = `The responses of this batch exceed ${mcpBatchResponseBytesMax} bytes. Send this message again in another request.`

const batches = new WeakMap<Request, Batch>()

/** Marks a request whose body is a batch. */
export function beginBatch(request: Request): Batch {
  const batch = new Batch()
  batches.set(request, batch)
  return batch
}

/** Returns the batch of a request; undefined where its body is one message. */
export const findBatch = (request: Request): Batch | undefined => batches.get(request)
