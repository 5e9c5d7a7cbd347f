import { type Html, html, type Part } from '../../core/markup.ts'
import { findHandles } from '../../hosting/agents/agents.ts'
import * as apps from '../../hosting/apps/apps.ts'
import { type BlockedPage, listBlockedPages } from '../../hosting/apps/blocked-pages.ts'
import { waiting } from '../../operator/cases.ts'
import { queryOf } from '../components.ts'
import { dataTable } from '../data-table.ts'
import { formatCount, renderDateTime } from '../format.ts'
import { form, hiddenField, inputField, type SubmittedForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import type { UserRequest } from '../session.ts'
import { stateBadge } from './components.ts'
import { badge, consolePage } from './layout.ts'

const blockedShown = 20

/** What waits about one app. */
interface PendingItems {
  since: number
  reports: number
  appeals: number
}

/** Every app about which something waits, the longest first. */
async function getCases({ ctx }: UserRequest) {
  const { held, asked, reports } = await waiting(ctx)
  const all = new Map<string, PendingItems>()
  const add = (id: string, at: number, what?: 'reports' | 'appeals'): void => {
    const waits = all.get(id) ?? { since: at, reports: 0, appeals: 0 }
    waits.since = Math.min(waits.since, at)
    if (what) waits[what] += 1
    all.set(id, waits)
  }
  for (const { id, heldAt } of held) add(id, heldAt ?? 0)
  for (const { app, at } of asked) add(app, at, 'appeals')
  for (const { app, at } of reports) add(app, at, 'reports')
  const found = await Promise.all(
    [...all].map(async ([id, waits]) => ({ ...waits, app: await apps.findApp(ctx, id) })),
  )
  const cases = found.flatMap(({ app, ...waits }) => (app ? [{ ...waits, app }] : []))
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
  const of = html`<a href="/console/apps/${app}">Restore its app</a>`
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
  const fields = html`${inputField({ label: 'SHA-256 of a page', name: 'sha256', max: 64, value: sha256 })}${inputField({ label: 'Reason', name: 'why', max: 200, value: why })}<button
      class="button quiet"
      name="decision"
      value="block"
    >
      Block it
    </button>`
  return html`<section id="blocklist">
    <h2>Blocked pages</h2>
    <p class="small">
      A page whose bytes have this hash cannot be published, and where it stands it is held back.
    </p>
    ${
      blocked.length > 0 &&
      dataTable(
        'Blocked pages',
        ['Page', { long: 'Why' }, 'Since', { unseen: 'Unblock' }],
        blocked.map((page) => blockedRow(token, page)),
      )
    }
    ${form(token, '/console/blocklist', fields)}
  </section>`
}

/** What waits for a decision, and what may not come back. */
export async function queuePage(
  req: UserRequest,
  message?: string,
  submitted?: SubmittedForm,
): Promise<Page> {
  const { ctx, token, request } = req
  const [cases, blocked] = await Promise.all([getCases(req), listBlockedPages(ctx, blockedShown)])
  const typed = submitted?.text('decision') === 'block' ? submitted : undefined
  const sha256 = typed?.text('sha256') ?? queryOf(request).get('sha256') ?? ''
  const again = form(
    token,
    '/console/rescan',
    html`<button class="button quiet">Rescan every app</button>`,
    'act',
  )
  const list: Part =
    cases.length > 0
      ? dataTable('What waits', [{ long: 'App' }, 'Maker', 'Why', 'Waits since'], cases.map(row))
      : emptyState('Nothing waits', 'Reports, appeals and apps that are held back are listed here.')
  const main = html`${list}
    <section>
      <h2>Safety check</h2>
      <p class="small">
        Reads every app again by the rules of now. It goes on beside everything else.
      </p>
      ${again}
    </section>
    ${blocklist(token, blocked, { sha256, why: typed?.text('why') })}`
  return consolePage({ place: '/console/queue', title: 'Moderation', message, main })
}
