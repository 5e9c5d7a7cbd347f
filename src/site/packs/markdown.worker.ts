import type { WorkerReply } from '../../kernel/worker-pool.ts'
import { type MarkdownTask, renderMarkdown } from './markdown.ts'

declare const self: Worker

self.onmessage = (event: MessageEvent<MarkdownTask>) => {
  let reply: WorkerReply<string>
  try {
    reply = { result: renderMarkdown(event.data) }
  } catch (error) {
    reply = { error: String(error) }
  }
  self.postMessage(reply)
}
