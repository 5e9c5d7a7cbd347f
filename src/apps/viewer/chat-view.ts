import { ApiError } from '../../kernel/errors.ts'
import { contentOf } from '../../kernel/http/entity.ts'
import { lazyFor } from '../../kernel/lazy.ts'
import { type PublicFile, readPublicText } from '../../kernel/public-files.ts'
import { isRecord, recordOf } from '../../kernel/schema.ts'
import { loadedLanguages } from '../../kernel/words/words.ts'
import type { SessionSender } from '../../people/session-user.ts'
import { librariesPath } from './library-files.ts'
import { chatBody } from './page.ts'
import { filesPath, type Pages } from './pages.ts'
import { framePolicy } from './policy.ts'

type OpenPage = NonNullable<Awaited<ReturnType<Pages['find']>>>

/** An app with all that its page needs, for a view of a chat (public/mcp/app-content.ts). */
export interface AppContent {
  id: string
  title: string
  /** The maker's handle, with the @. */
  maker: string
  link: string
  html: string
  libraries?: unknown
  files?: { page: string; hash: ''; names: string[]; address: string }
  /** The content security policy of its sandbox. */
  policy: string
}

/** A view is one message of a chat: the bytes of its page and libraries. */
const viewBytesMax = 8 * 1_048_576

/** The origins and paths that a view loads from (MCP Apps, `_meta.ui.csp`). */
export interface ViewPolicy {
  connectDomains?: string[]
  resourceDomains?: string[]
  baseUriDomains?: string[]
}

/** Sources of what a view holds itself, such as libraries. Some hosts add none of their own. */
const own = ['blob:', 'data:']

/** Returns what a host allows a view: what it holds, and the address of its files. */
export function viewPolicy(address: string | undefined): ViewPolicy {
  const loads = [...own, ...(address === undefined ? [] : [address])]
  return {
    connectDomains: loads,
    resourceDomains: loads,
    ...(address !== undefined && { baseUriDomains: [address] }),
  }
}

/** Returns the address below which the files of all apps are, each behind a token of its own. */
export const filesAddress = ({ urls }: Pages): string => (urls.apps ?? urls.app) + filesPath

/**
 * Reads a live app with its page, its libraries, and the address of its files. Throws
 * `view_too_large` before it reads more than `viewBytesMax`.
 */
export async function readAppContent(
  pages: Pages,
  page: OpenPage,
  sender: SessionSender,
): Promise<AppContent> {
  const { id, title, maker } = page.app
  const { urls } = pages
  const link = `${urls.app}/a/${id}`
  let bytes = 0
  const spend = (content: Blob): Blob => {
    bytes += content.size
    if (bytes > viewBytesMax) throw new ApiError('view_too_large', { link, max: viewBytesMax })
    return content
  }
  const read = async (entity: ReturnType<Pages['data']>): Promise<string> =>
    spend(contentOf(await entity).content).text()
  const [html, listText] = await Promise.all([
    read(pages.data(page)),
    read(pages.files(page, () => sender)),
  ])
  const list = recordOf(JSON.parse(listText))
  const address =
    typeof list['frame'] === 'string'
      ? new URL(list['frame'].replace(/\?.*/, ''), urls.apps ?? urls.app).href
      : undefined
  const libraries = isRecord(list['libraries'])
    ? await readLibraries(pages, list['libraries'], spend)
    : undefined
  const names = [list['files']].flat().map((row) => String(recordOf(row)['name']))
  return {
    id,
    title,
    maker: `@${maker}`,
    link,
    html,
    policy: framePolicy(address === undefined ? undefined : [address]),
    ...(libraries && { libraries }),
    ...(address !== undefined && {
      files: { page: String(list['page']), hash: '' as const, names, address },
    }),
  }
}

const isText = (type: string): boolean => /script|css|json/.test(type)

/** Reads the library files of a list one by one, as the shell of the viewer fetches them. */
async function readLibraries(
  pages: Pages,
  list: Record<string, unknown>,
  spend: (content: Blob) => Blob,
) {
  const find = async (url: unknown): Promise<Blob | undefined> => {
    const name = typeof url === 'string' ? url.slice(librariesPath.length) : ''
    const entity = name === '' ? undefined : await pages.libraryFiles.find(name)
    return entity && spend(contentOf(entity).content)
  }
  const textOf = async (url: unknown): Promise<string> => (await find(url))?.text() ?? ''
  const files: { name: unknown; type: unknown; text: string }[] = []
  for (const row of [list['files']].flat()) {
    const { name, type, url } = recordOf(row)
    const content = await find(url)
    // One that is missing is left out, as if it were blocked.
    if (!content) continue
    const text = isText(String(type))
      ? await content.text()
      : Buffer.from(await content.arrayBuffer()).toString('base64')
    files.push({ name, type, text })
  }
  return {
    loader: await textOf(list['loader']),
    script: await textOf(list['script']),
    files,
    urls: list['urls'],
    imports: list['imports'],
  }
}

/** Escapes JSON for a script tag. */
const inTag = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

const partsOf = lazyFor((files: ReadonlyMap<string, PublicFile>) => {
  const read = (name: string): string => readPublicText(files, name)
  const style = ['frame/shell.css', 'bridge/shell.css', 'mcp/view.css'].map(read).join('')
  const data = (id: string, value: unknown): string =>
    `<script type=application/json id=${id}>${inTag(value)}</script>`
  const head = `<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width,initial-scale=1"><title>App</title><style>${style}</style>`
  const languages = data('languages', loadedLanguages(files, 'frame', 'bridge', 'mcp'))
  const wrappers =
    data('wrapper', read('frame/frame.html')) + data('files-wrapper', read('frame/files.html'))
  return { start: `${head}<body>${chatBody()}${languages}${wrappers}`, script: read('mcp/view.js') }
})

/** Renders the view of a chat: of one app, or of the one that a tool call names. */
export function renderView(pages: Pages, app?: AppContent): string {
  const { start, script } = partsOf(pages.public)
  const embedded = app ? `<script type=application/json id=app>${inTag(app)}</script>` : ''
  return `${start}${embedded}<script>${script}</script>`
}
