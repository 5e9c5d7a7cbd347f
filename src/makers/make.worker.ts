import type { Answered } from '../core/pool.ts'
import { type Made, make, type Wanted } from './make.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<Wanted>) => {
  const answered: Answered<Made> = await make(data).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ fault: String(error) }),
  )
  self.postMessage(answered, 'fault' in answered ? [] : [answered.answer.bytes.buffer])
}
