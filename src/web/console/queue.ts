import { type Html, html, type Part } from '../../core/html.ts'
import { findHandles } from '../../hosting/agents/agents.ts'
import * as apps from '../../hosting/apps/apps.ts'
import { type BlockedPage, listBlockedPages } from '../../hosting/apps/blocked-pages.ts'
import { listOpenCases } from '../../operator/cases.ts'
import { section } from '../components.ts'
import { formatCount, renderDateTime } from '../format.ts'
import { button, type Form, form, hiddenField, inputField } from '../forms.ts'
import type { Page } from '../layout.ts'
import { dataTable, emptyState } from '../lists.ts'
import type { UserRequest } from '../session.ts'
import { badge, consolePage, stateBadge } from './components.ts'

const blockedShown = 20

/** Open reports and appeals of an app. */
interface PendingItems {
  since: number
  reports: number
  appeals: number
}

/** Returns the apps that need a decision, the longest waiting first. */
async function getCases({ ctx }: UserRequest) {
  const { quarantined, appeals, reports } = await listOpenCases(ctx)
  const all = new Map<string, PendingItems>()
  const add = (id: string, at: number, what?: 'reports' | 'appeals'): void => {
    const pending = all.get(id) ?? { since: at, reports: 0, appeals: 0 }
    pending.since = Math.min(pending.since, at)
    if (what) pending[what] += 1
    all.set(id, pending)
  }
  for (const { id, quarantinedAt } of quarantined) add(id, quarantinedAt ?? 0)
  for (const { app, at } of appeals) add(app, at, 'appeals')
  for (const { app, at } of reports) add(app, at, 'reports')
  const found = await Promise.all(
    [...all].map(async ([id, pending]) => ({ ...pending, app: await apps.findApp(ctx, id) })),
  )
  const cases = found.flatMap(({ app, ...pending }) => (app ? [{ ...pending, app }] : []))
  const handles = await findHandles(
    ctx,
    cases.map(({ app }) => app.maker),
  )
  return cases
    .map((one) => ({ ...one, maker: handles.get(one.app.maker) ?? '' }))
    .toSorted((a, b) => a.since - b.since)
}

type Case = Awaited<ReturnType<typeof getCases>>[number]

const row = ({ app, since, reports, appeals, maker }: Case): Part[] => [
  html`<a href="/console/apps/${app.id}"><bdi>${app.title}</bdi></a>`,
  html`<a href="/console/agents/${maker}">@${maker}</a>`,
  html`${stateBadge(app)} ${reports > 0 && badge(formatCount(reports, 'report'), 'bad')}
  ${appeals > 0 && badge('appeal', 'bad')}`,
  renderDateTime(since),
]

const blockedRow = (token: string, { sha256, app, reason, at }: BlockedPage): Part[] => {
  const lift = form(
    token,
    '/console/blocklist',
    html`${hiddenField('sha256', sha256)}<button
        class="button quiet slim"
        name="decision"
        value="unblock"
        aria-label="Unblock ${sha256.slice(0, 12)}"
      >
        Unblock
      </button>`,
    'act',
  )
  const of = html`<a href="/console/apps/${app}">Restore app</a>`
  return [
    html`<code title="${sha256}">${sha256.slice(0, 16)}…</code>`,
    html`<bdi>${reason}</bdi>`,
    renderDateTime(at),
    app === '' ? lift : of,
  ]
}

function blocklist(
  token: string,
  blocked: BlockedPage[],
  { sha256, why }: { sha256: string; why?: string | undefined },
): Html {
  const fields = html`${inputField({ label: 'SHA-256 hash of a page', name: 'sha256', max: 64, value: sha256 })}${inputField({ label: 'Reason', name: 'why', max: 200, value: why })}<button
      class="button quiet"
      name="decision"
      value="block"
    >
      Block page
    </button>`
  return html`<section id="blocklist">
    <h2>Blocked pages</h2>
    <p class="small">
      A page with a blocked hash cannot be published. Existing apps with the page are quarantined.
    </p>
    ${
      blocked.length > 0 &&
      dataTable(
        'Blocked pages',
        ['Page', { long: 'Reason' }, 'Since', { unseen: 'Unblock' }],
        blocked.map((page) => blockedRow(token, page)),
      )
    }
    ${form(token, '/console/blocklist', fields)}
  </section>`
}

/** Renders the moderation queue and the blocklist. */
export async function queuePage(
  req: UserRequest,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { ctx, token, query } = req
  const [cases, blocked] = await Promise.all([getCases(req), listBlockedPages(ctx, blockedShown)])
  const failed = submitted?.text('decision') === 'block' ? submitted : undefined
  const sha256 = failed?.text('sha256') ?? query.get('sha256') ?? ''
  const again = form(token, '/console/rescan', html`${button('Rescan all apps', 'quiet')}`, 'act')
  const list: Part =
    cases.length > 0
      ? dataTable(
          'Needs review',
          [{ long: 'App' }, 'Maker', 'Reason', 'Waiting since'],
          cases.map(row),
        )
      : emptyState('All caught up', 'Reports, appeals and quarantined apps appear here.')
  const main = html`${list}
  ${section(
    'Safety check',
    html`<p class="small">Checks all apps with the current rules, in the background.</p>
      ${again}`,
  )}
  ${blocklist(token, blocked, { sha256, why: failed?.text('why') })}`
  return consolePage({ place: '/console/queue', title: 'Moderation', message, main })
}
