import type { Answered } from '../../core/pool.ts'
import { createDiff } from './diff.ts'
import { createExcerpts } from './excerpts.ts'
import type { SourceResult, SourceTask } from './source.ts'

declare const self: Worker

const decoder = new TextDecoder()

function runTask(asked: SourceTask): SourceResult {
  if ('page' in asked) return { excerpts: createExcerpts(decoder.decode(asked.page), asked.places) }
  const { before, after } = asked
  return { difference: createDiff(decoder.decode(before), decoder.decode(after)) }
}

self.onmessage = (event: MessageEvent<SourceTask>) => {
  let answered: Answered<SourceResult>
  try {
    answered = { answer: runTask(event.data) }
  } catch (error) {
    answered = { fault: String(error) }
  }
  self.postMessage(answered)
}
