import type { WorkerReply } from '../core/worker-pool.ts'
import { type Parsed, parseJson } from './json.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
  const reply: WorkerReply<Parsed> = { result: parseJson(data) }
  self.postMessage(reply)
}
