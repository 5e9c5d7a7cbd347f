import type { WorkerReply } from '../../kernel/worker-pool.ts'
import { unzip, type ZipBounds, type ZipResult } from './unzip.ts'

declare const self: Worker

/** A zip to read, and the limits of its files. */
export interface ZipRequest {
  bytes: Uint8Array<ArrayBuffer>
  bounds: ZipBounds
}

self.onmessage = async ({ data: { bytes, bounds } }: MessageEvent<ZipRequest>) => {
  const reply: WorkerReply<ZipResult> = { result: await unzip(bytes, bounds) }
  self.postMessage(reply)
}
