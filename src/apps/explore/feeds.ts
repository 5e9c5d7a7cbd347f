import { LRUCache } from 'lru-cache'

import type { AppContext } from '../../kernel/context.ts'
import { pageHighestFirst } from '../../kernel/cursor.ts'
import { isApiError } from '../../kernel/errors.ts'
import { type Content, text } from '../../kernel/http/outcome.ts'
import { escapeHtml } from '../../kernel/text.ts'
import { findHandles, makerPageUrl } from '../../people/agents/agents.ts'
import { listPublicHandles } from '../../people/own-profile.ts'
import * as apps from '../apps.ts'
import { presentVersionCover } from '../covers/present-cover.ts'
import { withPublicCover } from '../covers/version-covers.ts'
import { isPackKind, itemUrl } from '../kinds.ts'
import * as listed from '../listings.ts'
import { getListed } from '../listings.ts'
import { compareVersions } from '../versions/compare.ts'
import { presentPublicVersion } from '../versions/versions.ts'
import { listItems } from './explore.ts'
import { type FeedQuery, type Item, type LogEntry, logPageMax, type LogQuery } from './schemas.ts'

/** Takedowns apply to feeds at once, so caches must revalidate. */
const caching = { 'cache-control': 'no-cache' }

/** Escapes text for XML 1.0, which allows fewer characters than JSON (section 2.2). */
const xml = (given: string): string =>
  escapeHtml(given.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ''))

/** Returns the URLs and the title of a feed. */
function feedUrls(ctx: AppContext, name: string, query: FeedQuery) {
  const { base, app } = ctx.urls
  const search = new URLSearchParams(query)
  const self = `${base}/explore/${name}${search.size > 0 ? `?${search}` : ''}`
  const home = query.maker ? makerPageUrl(ctx, query.maker) : `${app}/`
  return { self, home, title: query.maker ? `Berth: ${query.maker}` : 'Berth: Explore' }
}

/** Returns items as Atom (RFC 4287); the newest by default. */
export async function atomFeed(ctx: AppContext, query: FeedQuery): Promise<Content> {
  const { items } = await listItems(ctx, query)
  const { self, home, title } = feedUrls(ctx, 'feed.atom', query)
  const [latest = '1970-01-01T00:00:00.000Z'] = items
    .map(({ updated }) => updated)
    .sort()
    .reverse()
  const entry = (item: Item): string => `<entry>
<id>${xml(item.link)}</id>
<title>${xml(item.title)}</title>
<link href="${xml(item.link)}"/>
<published>${item.published}</published>
<updated>${item.updated}</updated>
<author><name>${xml(item.maker)}</name><uri>${xml(makerPageUrl(ctx, item.maker))}</uri></author>
<category term="${item.shelf}"/>
<summary>${xml(item.description)}</summary>
</entry>
`
  const feed = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${xml(self)}</id>
<title>${xml(title)}</title>
<link rel="self" type="application/atom+xml" href="${xml(self)}"/>
<link href="${xml(home)}"/>
<updated>${latest}</updated>
${items.map(entry).join('')}</feed>
`
  return text('application/atom+xml', feed, caching)
}

/** Returns items as JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/). */
export async function jsonFeed(ctx: AppContext, query: FeedQuery): Promise<Content> {
  const { items } = await listItems(ctx, query)
  const { self, home, title } = feedUrls(ctx, 'feed.json', query)
  const feed = {
    version: 'https://jsonfeed.org/version/1.1',
    title,
    home_page_url: home,
    feed_url: self,
    items: items.map((item) => ({
      id: item.link,
      url: item.link,
      title: item.title,
      content_text: item.description,
      date_published: item.published,
      date_modified: item.updated,
      authors: [{ name: item.maker, url: makerPageUrl(ctx, item.maker) }],
      tags: [item.kind, item.shelf],
    })),
  }
  return text('application/feed+json', JSON.stringify(feed), caching)
}

/** Returns the entry of a page in a sitemap. */
const urlEntry = (address: string): string => `<url><loc>${xml(address)}</loc></url>\n`

/** Maximum URLs of a sitemap (https://www.sitemaps.org/protocol.html). */
const urlsMax = 50_000
const batch = 500

/** Streams a sitemap of all items, newest first, the pages of their makers, and those of people. */
export async function* sitemap(ctx: AppContext): AsyncGenerator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
  const seen = new Set<string>()
  let left = urlsMax
  for (let after: listed.ListPosition = []; left > 0;) {
    const rows = await listed.tiles(ctx, { order: 'new' }, batch, after)
    const last = rows.at(-1)
    if (!last) break
    after = listed.positionOf('new', last)
    const makers = rows.map(({ maker }) => maker)
    const handles = await findHandles(ctx, makers)
    const addresses = rows.flatMap((row) => {
      const { maker } = row
      const page = makerPageUrl(ctx, handles.get(maker) ?? '')
      const isNew = !seen.has(maker)
      seen.add(maker)
      return isNew ? [page, itemUrl(ctx, row)] : [itemUrl(ctx, row)]
    })
    const some = addresses.slice(0, left)
    left -= some.length
    yield some.map(urlEntry).join('')
  }
  for await (const handles of listPublicHandles(ctx, batch)) {
    if (left <= 0) break
    const some = handles.slice(0, left).map((handle) => `${ctx.urls.app}/@${handle}`)
    left -= some.length
    yield some.map(urlEntry).join('')
  }
  yield '</urlset>\n'
}

type Changes = NonNullable<LogEntry['changes']>

/** Counted changes by app and version. A version never changes, so they never get old. */
const counted = new LRUCache<string, Promise<Changes | undefined>>({ max: 5_000 })

/**
 * Returns what changed in the versions of an item up to the one on Explore, newest first. Throws
 * `not_found`, `taken_down`, and `bad_request` for a cursor of another list.
 */
export async function readLog(
  ctx: AppContext,
  id: string,
  { limit = logPageMax, cursor }: LogQuery,
): Promise<{ entries: LogEntry[]; next: string | null }> {
  const app = await getListed(ctx, id)
  const end = apps.visibleVersion(app) + 1
  let rows: apps.Version[] = []
  const find = async (count: number, before = end) =>
    (rows = await apps.listVersions(ctx, app, count, Math.min(before, end)))
  const query = { limit, ...(cursor && { cursor }) }
  const { page, next } = await pageHighestFirst('log', query, ({ version }) => version, find)
  const shown = await withPublicCover(ctx, app, rows)
  const coverOf = (row: apps.Version | undefined) =>
    row && shown.has(row) ? presentVersionCover(ctx, row) : null
  const entries = await Promise.all(
    page.map(async (row, at) => ({
      ...presentPublicVersion(row),
      changes: (await countChanges(ctx, app, row.version)) ?? null,
      before: coverOf(rows[at + 1]),
      after: coverOf(row),
    })),
  )
  return { entries, next }
}

/** Counts what a version of an app changed; undefined for the first, for packs, and while busy. */
async function countChanges(
  ctx: AppContext,
  app: apps.App,
  version: number,
): Promise<Changes | undefined> {
  if (version === 1 || isPackKind(app.kind)) return undefined
  const key = `${app.id}/${version}`
  const known = counted.get(key) ?? compare(ctx, app, version)
  counted.set(key, known)
  return known.catch((error: unknown) => {
    counted.delete(key)
    if (isApiError(error, 'try_again')) return undefined
    throw error
  })
}

async function compare(ctx: AppContext, app: apps.App, version: number): Promise<Changes> {
  const files = await compareVersions(ctx, app, version - 1, version)
  const sum = (side: 'added' | 'removed'): number | null =>
    files.some((file) => file[side] === null && file.diff === null)
      ? null
      : files.reduce((all, file) => all + (file[side] ?? 0), 0)
  return { files: files.length, added: sum('added'), removed: sum('removed') }
}
