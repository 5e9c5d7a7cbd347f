import { marked } from 'marked'
import sanitizeHtml from 'sanitize-html'

import { Html, html } from '../../kernel/html.ts'
import { decodePath, encodePath } from '../../kernel/http/path.ts'
import { Cache } from '../../kernel/lazy.ts'
import { inThread, workerAt, WorkerPool } from '../../kernel/worker-pool.ts'

export interface MarkdownTask {
  text: string
  /** Path of the file in its folder, which its relative links start from. */
  path: string
  /** Paths of the folder. Relative links to others are removed. */
  files: string[]
  /** Address of a file of the pack on its page, and of its content; the path follows. */
  viewUrl: string
  contentUrl: string
}

const tags = (
  'h1 h2 h3 h4 h5 h6 p ul ol li blockquote pre code em strong del s kbd sub sup br hr a img ' +
  'details summary table thead tbody tr th td dl dt dd'
).split(' ')

/** The page has its title and its sections above the headings of the text. */
const lowerHeadings = { h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6', h5: 'h6' }

/** Resolves a relative link; undefined where it leaves the folder or names no file. */
function fileOf(href: string, { path, files }: MarkdownTask): string | undefined {
  const base = `http://folder.invalid/${encodePath(path)}`
  if (!URL.canParse(href, base)) return undefined
  const { host, pathname } = new URL(href, base)
  if (host !== 'folder.invalid') return undefined
  // A text may name "100%.md" without encoding it.
  const target = decodePath(pathname.slice(1)) ?? pathname.slice(1)
  return files.find((file) => file === target)
}

const isWeb = (href: string): boolean => /^(https?|mailto):/i.test(href)

/**
 * Renders Markdown of strangers as HTML for a page with our policy: known elements only, no styles,
 * scripts, ids or pictures of other sites, and links that carry no weight.
 */
export function renderMarkdown(task: MarkdownTask): string {
  const raw = marked.parse(task.text, { async: false, gfm: true })
  const link = (tagName: string, { href = '', ...attribs }: sanitizeHtml.Attributes) => {
    const file = isWeb(href) ? undefined : fileOf(href, task)
    const target = file === undefined ? href : task.viewUrl + encodeURIComponent(file)
    if (file === undefined && !isWeb(href)) return { tagName: 's', attribs: {} }
    const rel = file === undefined ? { rel: 'nofollow ugc noopener noreferrer' } : {}
    return { tagName, attribs: { ...attribs, href: target, ...rel } }
  }
  const image = (tagName: string, { src = '', alt = '' }: sanitizeHtml.Attributes) => {
    const file = isWeb(src) ? undefined : fileOf(src, task)
    return file === undefined
      ? { tagName: 'em', attribs: {}, text: alt || 'Picture' }
      : { tagName, attribs: { src: task.contentUrl + encodePath(file), alt, loading: 'lazy' } }
  }
  const headings = Object.entries(lowerHeadings).map(([from, to]) => [
    from,
    sanitizeHtml.simpleTransform(to, {}, false),
  ])
  return sanitizeHtml(raw, {
    allowedTags: tags,
    allowedAttributes: {
      a: ['href', 'title', 'rel'],
      img: ['src', 'alt', 'loading'],
      th: ['align'],
      td: ['align'],
      ol: ['start'],
    },
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: false,
    nestingLimit: 60,
    disallowedTagsMode: 'discard',
    transformTags: { ...Object.fromEntries(headings), a: link, img: image },
  })
}

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
