import type { CoverBody } from '../../apps/covers/schemas.ts'
import * as explore from '../../apps/explore/explore.ts'
import { readLog } from '../../apps/explore/feeds.ts'
import type { LogEntry, Tile } from '../../apps/explore/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { versionOrigins } from '../components.ts'
import { formatBytes, formatCount, renderDate } from '../format.ts'
import type { Layout, Page } from '../layout.ts'
import { cursorPager } from '../lists.ts'
import { sendPage } from '../public-pages.ts'
import { pageRoutes } from '../session.ts'
import { itemCover } from '../tiles.ts'
import { itemPlace } from './item-sections.ts'

/** The ship’s log of an item. */
export const logRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get('/explore/:name/log', ({ input, params: { name } }) => {
    const key = `${name} log ${input.query.get('cursor') ?? ''}`
    return sendPage(input, key, () => logPage(ctx, name, input.query))
  })

/** Renders what changed in each version of an item. Throws `not_found`, `taken_down`. */
async function logPage(ctx: AppContext, id: string, query: URLSearchParams): Promise<Page> {
  const { item } = await explore.getItem(ctx, id)
  const { title, maker } = item
  const cursor = query.get('cursor') ?? undefined
  const { entries, next } = await readLog(ctx, id, { ...(cursor && { cursor }) })
  const path = `/explore/${id}/log`
  return {
    title: t('Ship’s log of {title}', { title }),
    path,
    section: '/explore',
    description: t('What changed in each version of {title} by {maker}.', { title, maker }),
    main: html`${itemPlace(t('Ship’s log'), item)}
      <ol class="log">
        ${entries.map((entry) => logEntry(ctx, item, entry))}
      </ol>
      ${cursorPager(query, path, next)}`,
  }
}

const logEntry = (ctx: AppContext, item: Tile, entry: LogEntry): Html =>
  html`<li>
    <div>
      <h2>Version ${entry.version}</h2>
      <p class="small">${renderDate(entry.created)} · ${versionOrigins[entry.via]}</p>
      ${entry.note !== '' && html`<p class="words"><bdi>${entry.note}</bdi></p>`}
      <p class="small">${changeLine(entry)}</p>
    </div>
    ${coverPair(ctx, item, entry)}
  </li>`

/** One line on the size of a change. */
function changeLine({ version, changes, bytes }: LogEntry): string {
  const size = formatBytes(bytes)
  if (version === 1) return t('The first version, {size}.', { size })
  if (!changes) return size
  const { files, added, removed } = changes
  if (files === 0) return t('No file changed.')
  const where = formatCount(files, 'file')
  if (added === null || removed === null) return t('{files} changed.', { files: where })
  const [more, less] = [formatCount(added, 'line'), formatCount(removed, 'line')]
  return t('{more} added and {less} removed in {files}.', { more, less, files: where })
}

/** The cover of a version beside that of the version before it, where they differ. */
function coverPair(ctx: AppContext, item: Tile, { before, after }: LogEntry): Part {
  const isSame = before?.color === after?.color && hashOf(before) === hashOf(after)
  const old = isSame ? null : before
  return (
    (old || after) &&
    html`<div class="cover-pair">
      ${old && figure(ctx, item, old, t('Before'))}${after && figure(ctx, item, after, old ? t('After') : undefined)}
    </div>`
  )
}

/** The name of an image ends with a hash of its content. */
const hashOf = (cover: CoverBody | null): string | undefined =>
  cover?.large.slice(cover.large.lastIndexOf('-'))

const figure = (ctx: AppContext, item: Tile, cover: CoverBody, label?: string): Html =>
  html`<figure>
    ${itemCover(ctx, { ...item, cover }, { widths: 'log' })}${
      label !== undefined && html`<figcaption>${label}</figcaption>`
    }
  </figure>`
