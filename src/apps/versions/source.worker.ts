import type { WorkerReply } from '../../kernel/worker-pool.ts'
import { patchFile } from './apply-patch.ts'
import { createDiff, createExcerpts, createPatch } from './diff.ts'
import type { SourceResult, SourceTask } from './source.ts'

declare const self: Worker

const decoder = new TextDecoder()

function runTask(task: SourceTask): SourceResult {
  if ('page' in task) return { excerpts: createExcerpts(decoder.decode(task.page), task.places) }
  if ('file' in task) return { patched: patchFile(task.file) }
  const [before, after] = [decoder.decode(task.before), decoder.decode(task.after)]
  if (task.path === undefined) return { difference: createDiff(before, after) }
  return { unified: createPatch(task.path, before, after) }
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
