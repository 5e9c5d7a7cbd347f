import type { WorkerReply } from '../worker-pool.ts'
import { type JsonResult, parseJson } from './body.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
  const reply: WorkerReply<JsonResult> = { result: parseJson(data) }
  self.postMessage(reply)
}
