import { Html, html } from '../../kernel/html.ts'
import { Cache } from '../../kernel/lazy.ts'
import { inThread, workerAt, WorkerPool } from '../../kernel/worker-pool.ts'
import type { MarkdownTask } from './render-markdown.ts'

const bounds = {
  slots: 3,
  waitingMax: 16,
  waitingBytesMax: 16 * 1_048_576,
  largeBytes: 65_536,
  taskMs: 2_000,
  idleMs: 30_000,
}

/** Text of strangers can take a renderer seconds, so it runs beside the event loop. */
const workers = new WorkerPool<MarkdownTask, string>(
  inThread(workerAt('site/packs/markdown.worker.ts')),
  bounds,
)

const renderedMax = 200
const rendered = new Cache<string>(renderedMax)

/** Renders a Markdown file; as plain text where that fails. `key` names its content. */
export async function renderFile(key: string, task: MarkdownTask): Promise<Html> {
  const known = rendered.get(key)
  if (known !== undefined) return new Html(known)
  try {
    const text = await workers.run(task.text.length, () => task)
    rendered.set(key, text)
    return new Html(text)
  } catch {
    return html`<pre class="plain-file">${task.text}</pre>`
  }
}
