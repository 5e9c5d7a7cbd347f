import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { handlesOf } from '../../hosting/agents/names.ts'
import * as apps from '../../hosting/apps/apps.ts'
import { type BadPage, listBadPages } from '../../hosting/apps/bad-pages.ts'
import { waiting } from '../../operator/cases.ts'
import type { Page } from '../layout.ts'
import { empty } from '../lists.ts'
import { counted, momentOf, queryOf } from '../parts.ts'
import type { Own } from '../people/desk.ts'
import { field, type Form, form, hidden } from '../people/form.ts'
import { table } from '../table.ts'
import { badge, consolePage } from './frame.ts'
import { stateBadge } from './parts.ts'

const blockedShown = 20

/** What waits about one app. */
interface Waits {
  since: number
  reports: number
  appeals: number
}

/** Every app about which something waits, the longest first. */
async function casesOf({ ctx }: Own) {
  const { held, asked, reports } = await waiting(ctx)
  const all = new Map<string, Waits>()
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
    [...all].map(async ([id, waits]) => ({ ...waits, app: await apps.find(ctx, id) })),
  )
  const cases = found.flatMap(({ app, ...waits }) => (app ? [{ ...waits, app }] : []))
  const handles = await handlesOf(
    ctx,
    cases.map(({ app }) => app.maker),
  )
  return cases
    .map((one) => ({ ...one, maker: handles.get(one.app.maker) ?? '' }))
    .toSorted((a, b) => a.since - b.since)
}

type Case = Awaited<ReturnType<typeof casesOf>>[number]

const row = ({ app, since, reports, appeals, maker }: Case): Part[] => [
  html`<a href="/console/apps/${app.id}"><bdi>${app.title}</bdi></a>`,
  html`<a href="/console/agents/${maker}">@${maker}</a>`,
  html`${stateBadge(app)} ${reports > 0 && badge(counted(reports, 'report'), 'bad')}
  ${appeals > 0 && badge('appeal', 'bad')}`,
  momentOf(iso(since)),
]

const blockedRow = (token: string, { sha256, app, reason, at }: BadPage): Part[] => {
  const lift = form(
    token,
    '/console/blocklist',
    html`${hidden('sha256', sha256)}<button
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
    momentOf(iso(at)),
    app === '' ? lift : of,
  ]
}

function blocklist(
  token: string,
  blocked: BadPage[],
  { sha256, why }: { sha256: string; why?: string | undefined },
): Html {
  const fields = html`${field({ label: 'SHA-256 of a page', name: 'sha256', max: 64, value: sha256 })}${field({ label: 'Reason', name: 'why', max: 200, value: why })}<button
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
      table(
        'Blocked pages',
        ['Page', { long: 'Why' }, 'Since', { unseen: 'Unblock' }],
        blocked.map((page) => blockedRow(token, page)),
      )
    }
    ${form(token, '/console/blocklist', fields)}
  </section>`
}

/** What waits for a decision, and what may not come back. */
export async function queuePage(own: Own, said?: string, sent?: Form): Promise<Page> {
  const { ctx, token, request } = own
  const [cases, blocked] = await Promise.all([casesOf(own), listBadPages(ctx, blockedShown)])
  const typed = sent?.text('decision') === 'block' ? sent : undefined
  const sha256 = typed?.text('sha256') ?? queryOf(request).get('sha256') ?? ''
  const again = form(
    token,
    '/console/rescan',
    html`<button class="button quiet">Rescan every app</button>`,
    'act',
  )
  const list: Part =
    cases.length > 0
      ? table('What waits', [{ long: 'App' }, 'Maker', 'Why', 'Waits since'], cases.map(row))
      : empty('Nothing waits', 'Reports, appeals and apps that are held back are listed here.')
  const main = html`${list}
    <section>
      <h2>Safety check</h2>
      <p class="small">
        Reads every app again by the rules of now. It goes on beside everything else.
      </p>
      ${again}
    </section>
    ${blocklist(token, blocked, { sha256, why: typed?.text('why') })}`
  return consolePage({ place: '/console/queue', title: 'Moderation', said, main })
}
