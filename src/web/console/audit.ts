import { makeCursor, pageOf } from '../../core/cursor.ts'
import { html } from '../../core/markup.ts'
import { listAudit } from '../../hosting/audit/audit.ts'
import { queryOf, searchTerm } from '../components.ts'
import type { Page } from '../layout.ts'
import { createdCursor, cursorPager, emptyState } from '../lists.ts'
import type { SignedInRequest } from '../session.ts'
import { auditTable } from './components.ts'
import { consolePage, searchCharsMax, searchForm } from './layout.ts'

const rowsShown = 50

/** What was decided, by whom and why, the newest first: all, or about one item. */
export async function auditPage({ ctx, request }: SignedInRequest): Promise<Page> {
  const query = queryOf(request)
  const q = searchTerm(query, searchCharsMax)?.replace(/\p{Cc}/gu, '')
  const last = createdCursor(query)
  const before = last && { at: last.created, id: last.id }
  const rows = await listAudit(ctx, rowsShown + 1, q, before)
  const { page, next } = pageOf(rows, rowsShown, (entry) => makeCursor(entry.at, entry.id))
  const none =
    q === undefined
      ? emptyState(
          'Nothing was decided yet',
          'Takedowns, holds, suspensions and grants are kept here.',
        )
      : emptyState('Nothing about that', html`Nothing was decided about “<bdi>${q}</bdi>”.`)
  const main = html`${searchForm('/console/audit', 'An app’s id, an @handle, a hash', q)}
  ${page.length > 0 ? auditTable(page) : none} ${cursorPager(query, '/console/audit', next, { q })}`
  return consolePage({ place: '/console/audit', title: 'Audit log', main })
}
