import type { WorkerReply } from '../../kernel/worker-pool.ts'
import { createDiff } from './diff.ts'
import { createExcerpts } from './excerpts.ts'
import type { SourceResult, SourceTask } from './source.ts'

declare const self: Worker

const decoder = new TextDecoder()

function runTask(task: SourceTask): SourceResult {
  if ('page' in task) return { excerpts: createExcerpts(decoder.decode(task.page), task.places) }
  const { before, after } = task
  return { difference: createDiff(decoder.decode(before), decoder.decode(after)) }
}

self.onmessage = (event: MessageEvent<SourceTask>) => {
  let reply: WorkerReply<SourceResult>
  try {
    reply = { result: runTask(event.data) }
  } catch (error) {
    reply = { error: String(error) }
  }
  self.postMessage(reply)
}
