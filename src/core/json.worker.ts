import { type Parsed, parseJson } from './json.ts'
import type { Answered } from './pool.ts'

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
  const answered: Answered<Parsed> = { answer: parseJson(data) }
  self.postMessage(answered)
}
