import { makeCursor, pageOf } from '../../core/cursor.ts'
import { html } from '../../core/markup.ts'
import { listAudit } from '../../hosting/moderation/audit.ts'
import type { Page } from '../layout.ts'
import { cursorPager, empty, madeIn } from '../lists.ts'
import { queryOf, wordsIn } from '../parts.ts'
import type { Own } from '../people/desk.ts'
import { consolePage, searchForm, wordsMax } from './frame.ts'
import { auditTable } from './parts.ts'

const rowsShown = 50

/** What was decided, by whom and why, the newest first: all, or about one item. */
export async function auditPage({ ctx, request }: Own): Promise<Page> {
  const query = queryOf(request)
  const q = wordsIn(query, wordsMax)?.replace(/\p{Cc}/gu, '')
  const last = madeIn(query)
  const before = last && { at: last.created, id: last.id }
  const rows = await listAudit(ctx, rowsShown + 1, q, before)
  const { page, next } = pageOf(rows, rowsShown, (entry) => makeCursor(entry.at, entry.id))
  const none =
    q === undefined
      ? empty('Nothing was decided yet', 'Takedowns, holds, suspensions and grants are kept here.')
      : empty('Nothing about that', html`Nothing was decided about “<bdi>${q}</bdi>”.`)
  const main = html`${searchForm('/console/audit', 'An app’s id, an @handle, a hash', q)}
  ${page.length > 0 ? auditTable(page) : none} ${cursorPager(query, '/console/audit', next, { q })}`
  return consolePage({ place: '/console/audit', title: 'Audit log', main })
}
