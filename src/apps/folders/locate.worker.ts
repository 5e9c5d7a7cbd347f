import type { WorkerReply } from '../../kernel/worker-pool.ts'
import type { FolderCode } from './pins.ts'
import { locateCode } from './script-location.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<FolderCode[]>) => {
  const reply: WorkerReply<FolderCode[]> = { result: data.map(locateCode) }
  self.postMessage(reply)
}
