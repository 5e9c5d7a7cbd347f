import type { WorkerReply } from '../../kernel/worker-pool.ts'
import { type Inspection, inspectNow, type OwnBytes } from './inspection.ts'

declare const self: Worker

self.onmessage = (event: MessageEvent<OwnBytes>) => {
  let reply: WorkerReply<Inspection>
  try {
    reply = { result: inspectNow(event.data) }
  } catch (error) {
    reply = { error: String(error) }
  }
  self.postMessage(reply, 'error' in reply ? [] : [reply.result.identity.buffer])
}
