import type { WorkerReply } from '../core/worker-pool.ts'
import { type Made, make, type Painted, type Wanted } from './generate.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<Wanted | Painted>) => {
  const reply: WorkerReply<Made> = await make(data).then(
    (result) => ({ result }),
    (error: unknown) => ({ error: String(error) }),
  )
  self.postMessage(reply, 'error' in reply ? [] : [reply.result.bytes.buffer])
}
