import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { html } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { searchTerm } from '../../site/components.ts'
import type { Page } from '../../site/layout.ts'
import { createdCursor, cursorPager, emptyState } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { auditTable, consolePage, searchCharsMax, searchForm } from './components.ts'

const rowsShown = 50

/** Renders the audit log, newest first, for all items or one. Throws `bad_request`. */
export async function auditPage({ ctx, query }: UserRequest): Promise<Page> {
  const q = searchTerm(query, searchCharsMax)?.replace(/\p{Cc}/gu, '')
  const last = createdCursor(query)
  const before = last && { at: last.created, id: last.id }
  const rows = await listAudit(ctx, rowsShown + 1, q, before)
  const { page, next } = takePage(rows, rowsShown, (entry) => makeCursor(entry.at, entry.id))
  const none =
    q === undefined
      ? emptyState(
          t('No decisions yet'),
          t('Takedowns, quarantines, suspensions and grants appear here.'),
        )
      : emptyState(t('No decisions found'), html`No decision about “<bdi>${q}</bdi>”.`)
  const main = html`${searchForm('/console/audit', t('Search by app ID, @handle or hash'), q)}
  ${auditTable(page, none)} ${cursorPager(query, '/console/audit', next, { q })}`
  return consolePage({ place: '/console/audit', title: t('Audit log'), main })
}
