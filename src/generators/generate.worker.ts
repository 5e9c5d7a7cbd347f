import type { Answered } from '../core/pool.ts'
import { type Made, make, type Painted, type Wanted } from './generate.ts'

declare const self: Worker

self.onmessage = async ({ data }: MessageEvent<Wanted | Painted>) => {
  const answered: Answered<Made> = await make(data).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ fault: String(error) }),
  )
  self.postMessage(answered, 'fault' in answered ? [] : [answered.answer.bytes.buffer])
}
