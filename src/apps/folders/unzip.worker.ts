import type { WorkerReply } from '../../kernel/worker-pool.ts'
import { type PackedFile, unpackFiles } from './unzip.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<PackedFile[]>) => {
  const reply: WorkerReply<Awaited<ReturnType<typeof unpackFiles>>> = {
    result: await unpackFiles(data),
  }
  self.postMessage(reply)
}
