import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { lookUp } from '../../kernel/schema.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { type AuditEntry, commandLine, listAudit } from '../../people/audit/audit.ts'
import { searchTerm, section } from '../../site/components.ts'
import { renderDateTime } from '../../site/format.ts'
import type { Page } from '../../site/layout.ts'
import { createdCursor, cursorPager, dataTable, emptyState } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { consolePage, ownerLink, searchCharsMax, searchForm, settingLink } from './components.ts'
import { isSetting } from './setting-names.ts'

/** Labels of the actions in the audit log. */
const auditActions: Partial<Record<string, Text>> = {
  'add library': msg('Library added'),
  allow: msg('Limit lifted'),
  audience: msg('Audience changed'),
  backup: msg('Backup created'),
  ban: msg('Client blocked'),
  block: msg('Page blocked'),
  'credit-payment': msg('Payment credited'),
  delist: msg('Removed from Explore'),
  denied: msg('Appeal denied'),
  dismiss: msg('Reports dismissed'),
  'dismiss-page': msg('Reports dismissed'),
  feature: msg('Featured'),
  grant: msg('Credits granted'),
  granted: msg('Appeal granted'),
  group: msg('Group changed'),
  hide: msg('Comment hidden'),
  'hide-page': msg('Public page hidden'),
  hold: msg('Quarantined'),
  import: msg('Data imported'),
  'keys add': msg('API key created'),
  'keys change': msg('API key changed'),
  'keys revoke': msg('API key revoked'),
  'keys rotate': msg('API key rotated'),
  leave: msg('Account deleted'),
  pause: msg('Spending paused'),
  'projects add': msg('Project created'),
  'projects change': msg('Project changed'),
  'projects remove': msg('Project removed'),
  recover: msg('Sign-in recovered'),
  release: msg('Released from quarantine'),
  'remove backup': msg('Backup removed'),
  'remove library': msg('Library removed'),
  rescan: msg('Scanned again'),
  reset: msg('Setting reset'),
  restore: msg('Restored'),
  'restore backup': msg('Backup restored'),
  resume: msg('Spending resumed'),
  'revoke share link': msg('Share link revoked'),
  set: msg('Setting changed'),
  'share link': msg('Share link created'),
  'show-page': msg('Public page shown'),
  slow: msg('Client slowed down'),
  suspend: msg('Suspended'),
  takedown: msg('Taken down'),
  unblock: msg('Page allowed again'),
  unfeature: msg('No longer featured'),
  unsuspend: msg('Suspension ended'),
}

/** Decisions about keys and projects, whose details are their IDs. */
const ofKeys = /^(keys|projects) /

/** Decisions about people, unless their item is an @handle. */
const ofPeople = /^(suspend|unsuspend|hide-page|show-page|dismiss-page|leave|recover)$/

/** Links an item of the audit log to its page. */
const itemLink = ({ did, item }: AuditEntry): Html => {
  if (ofKeys.test(did) || (did === 'grant' && !item.startsWith('@'))) {
    return html`<a href="/console/keys/${encodeURIComponent(item)}"><bdi>${item}</bdi></a>`
  }
  if (item.startsWith('@') || ofPeople.test(did)) return ownerLink(item)
  if (isSetting(item)) return settingLink(item)
  if (/^[\w-]{12}$/.test(item))
    return html`<a href="/console/apps/${item}"><code>${item}</code></a>`
  return html`<code title="${item}">${item.length > 24 ? `${item.slice(0, 16)}…` : item}</code>`
}

/** A table of decisions; with their items where those differ. */
const auditTable = (entries: AuditEntry[], hasItems: boolean, none?: Part): Part =>
  dataTable(
    t('Decisions'),
    [
      { text: t('Action'), onPhone: 'title' },
      ...(hasItems ? [{ text: t('Item'), onPhone: 'plain' } as const] : []),
      { long: t('Details'), onPhone: 'plain' },
      { text: t('By'), onPhone: 'plain' },
      { text: t('Time'), onPhone: 'plain' },
    ],
    entries.map((entry) => [
      lookUp(auditActions, entry.did) ?? entry.did,
      ...(hasItems ? [itemLink(entry)] : []),
      entry.why !== '' &&
        (ofKeys.test(entry.did) ? html`<code>${entry.why}</code>` : html`<bdi>${entry.why}</bdi>`),
      entry.by === commandLine ? t('command line') : html`<bdi>${entry.by}</bdi>`,
      renderDateTime(entry.at),
    ]),
    none,
  )

export const decisionHistory = (entries: AuditEntry[]): Part =>
  entries.length > 0 && section(t('Decision history'), auditTable(entries, false))

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
  ${auditTable(page, true, none)} ${cursorPager(query, '/console/audit', next, { q })}`
  return consolePage({ place: '/console/audit', title: t('Audit log'), main })
}
