import type { WorkerReply } from '../../kernel/worker-pool.ts'
import { type AnyRequest, generate, type GeneratedFile } from './generate.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<AnyRequest>) => {
  const reply: WorkerReply<GeneratedFile> = await generate(data).then(
    (result) => ({ result }),
    (error: unknown) => ({ error: String(error) }),
  )
  self.postMessage(reply, 'error' in reply ? [] : [reply.result.bytes.buffer])
}
