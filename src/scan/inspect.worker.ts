import type { Answered } from '../core/pool.ts'
import { type Inspection, inspectNow, type OwnBytes } from './inspection.ts'

declare const self: Worker

self.onmessage = (event: MessageEvent<OwnBytes>) => {
  let answered: Answered<Inspection>
  try {
    answered = { answer: inspectNow(event.data) }
  } catch (error) {
    answered = { fault: String(error) }
  }
  self.postMessage(answered, 'fault' in answered ? [] : buffersOf(answered.answer))
}

function buffersOf({ identity, br, gzip }: Inspection): ArrayBuffer[] {
  return [identity, br, gzip].flatMap((bytes) => (bytes ? [bytes.buffer] : []))
}
