import type { WorkerReply } from '../core/worker-pool.ts'
import {
  generate,
  type GeneratedFile,
  type GenerateRequest,
  type ResizeRequest,
} from './generate.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<GenerateRequest | ResizeRequest>) => {
  const reply: WorkerReply<GeneratedFile> = await generate(data).then(
    (result) => ({ result }),
    (error: unknown) => ({ error: String(error) }),
  )
  self.postMessage(reply, 'error' in reply ? [] : [reply.result.bytes.buffer])
}
