import { type Inspection, inspectNow, type OwnBytes } from './inspection.ts'

declare const self: Worker

/** What the worker answers: the inspection, or why there is none. */
export type Answer = { inspection: Inspection } | { fault: string }

self.onmessage = (event: MessageEvent<OwnBytes>) => {
  let answer: Answer
  try {
    answer = { inspection: inspectNow(event.data) }
  } catch (error) {
    answer = { fault: String(error) }
  }
  self.postMessage(answer, 'fault' in answer ? [] : buffersOf(answer.inspection))
}

function buffersOf({ identity, br, gzip }: Inspection): ArrayBuffer[] {
  return [identity, br, gzip].flatMap((bytes) => (bytes ? [bytes.buffer] : []))
}
