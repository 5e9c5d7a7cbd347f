import type { Appeal } from '../../apps/appeal/appeals.ts'
import * as apps from '../../apps/apps.ts'
import { type BlockedPage, listBlockedPages } from '../../apps/blocked-pages.ts'
import { presentVersionCover } from '../../apps/covers/present-cover.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { reportReasons } from '../../apps/moderation/reasons.ts'
import type { Report } from '../../apps/moderation/reports.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { decisionReasonCharsMax } from '../../kernel/limits.ts'
import { t } from '../../kernel/words/message.ts'
import { findHandles } from '../../people/agents/agents.ts'
import { findPerson } from '../../people/people.ts'
import { playIcon, section } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { formatCount, renderDateTime } from '../../site/format.ts'
import { button, type Form, hiddenField, inputField, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable, emptyState } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { findingName } from '../../site/studio/safety.ts'
import { itemCover } from '../../site/tiles.ts'
import { listOpenCases } from '../operator/cases.ts'
import { decide } from '../operator/operations.ts'
import { decideAbout, decidedNotice } from './access.ts'
import { badge, consolePage, stateBadge } from './components.ts'

const blockedShown = 20

const place = '/console/queue'

/** Open reports and appeals of an app, oldest first. */
interface PendingItems {
  since: number
  reports: Report[]
  appeals: Appeal[]
}

/** A decision that was rejected: its app, the typed reason and the message. */
interface FailedDecision {
  item?: string
  why?: string
  message?: string | undefined
}

/** Returns the apps that need a decision, the longest waiting first. */
async function getCases({ ctx }: UserRequest) {
  const { quarantined, appeals, reports } = await listOpenCases(ctx)
  const all = new Map<string, PendingItems>()
  const add = (id: string, at: number): PendingItems => {
    const pending = all.get(id) ?? { since: at, reports: [], appeals: [] }
    pending.since = Math.min(pending.since, at)
    all.set(id, pending)
    return pending
  }
  for (const { id, quarantinedAt } of quarantined) add(id, quarantinedAt ?? 0)
  for (const appeal of appeals) add(appeal.app, appeal.at).appeals.push(appeal)
  for (const report of reports)
    if (report.person === null) add(report.app, report.at).reports.push(report)
  const found = await Promise.all(
    [...all].map(async ([id, pending]) => {
      const app = await apps.findApp(ctx, id)
      const isBuilt = app && app.version > 0
      const version = isBuilt ? await apps.getVersion(ctx, id, app.version) : undefined
      return { ...pending, app, version }
    }),
  )
  const cases = found.flatMap(({ app, ...pending }) => (app ? [{ ...pending, app }] : []))
  const makers = cases.map(({ app }) => app.maker)
  const handles = await findHandles(ctx, makers)
  return {
    cases: cases
      .map((one) => ({ ...one, maker: handles.get(one.app.maker) ?? '' }))
      .toSorted((a, b) => a.since - b.since),
    people: await findReported(ctx, reports),
  }
}

type Case = Awaited<ReturnType<typeof getCases>>['cases'][number]

/** Returns the people whose pages were reported, the longest waiting first. */
async function findReported(ctx: AppContext, reports: Report[]) {
  const byPerson = Map.groupBy(reports, ({ person }) => person ?? '')
  byPerson.delete('')
  const found = await Promise.all(
    [...byPerson].map(async ([id, about]) => ({ person: await findPerson(ctx, id), about })),
  )
  // An account may be closed since the reports were read.
  return found.flatMap(({ person, about }) => (person ? [{ person, about }] : []))
}

/** Lists the people whose pages were reported. Their page in the console decides. */
const reportedPeople = (people: Awaited<ReturnType<typeof findReported>>): Part =>
  people.length > 0 &&
  section(
    t('Reported people'),
    html`<ul class="rows">
      ${people.map(
        ({ person, about }) =>
          html`<li>
            <a href="/console/people/${encodeURIComponent(person.name)}"
              ><bdi>${person.name}</bdi></a
            >
            ${badge(formatCount(about.length, 'report'), 'bad')}
            ${about.slice(-1).map(({ reason, text }) => html`<p><strong>${reportReasons[reason]}.</strong> <bdi>${text}</bdi></p>`)}
          </li>`,
      )}
    </ul>`,
  )

/** Buttons that decide a case at once. A takedown has its reason beside it. */
function caseForm(token: string, { app, reports }: Case, failed: FailedDecision): Html {
  const isFailed = failed.item === app.id
  const approval = app.quarantinedAt !== null ? 'release' : reports.length > 0 ? 'dismiss' : ''
  const label = approval === 'release' ? t('Release') : t('Dismiss reports')
  const error = isFailed && failed.message
  // Enter in the reason presses the first button.
  const fields = html`${hiddenField('item', app.id)}
    <label class="visually-hidden" for="why-${app.id}">Reason for ${app.title}</label
    ><input
      id="why-${app.id}"
      name="why"
      maxlength="${decisionReasonCharsMax}"
      value="${isFailed && failed.why}"
      placeholder="Reason, which the maker receives"
      autocomplete="off"
      dir="auto"
      ${error && html` aria-invalid="true" aria-describedby="error-${app.id}" autofocus`}
    />${button(t('Take down'), 'quiet slim danger', { name: 'decision', value: 'takedown' })}${
      approval !== '' &&
      html`<button class="button slim" name="decision" value="${approval}" data-key="a">
        ${label}
      </button>`
    }
    ${error && html`<p class="alert field-error" id="error-${app.id}" role="alert">${error}</p>`}`
  return postForm(token, place, fields, 'case-form')
}

const appealLink = (app: apps.App): Html =>
  html`<p><a class="button slim" href="/console/apps/${app.id}">Decide appeal</a></p>`

function caseItem({ ctx, token }: UserRequest, one: Case, failed: FailedDecision): Html {
  const { app, since, reports, appeals, maker, version } = one
  const [newest] = reports.toReversed()
  const image = caseImage(ctx, app, version)
  return html`<li class="case${image !== false && ' with-picture'}" tabindex="-1">
    ${image}
    <div>
      <p>
        <a class="case-title" href="/console/apps/${app.id}"><bdi>${app.title}</bdi></a>
        <span class="small"
          >by <a href="/console/agents/${maker}"><bdi>@${maker}</bdi></a></span
        >
        ${stateBadge(app)}
        ${reports.length > 0 && badge(formatCount(reports.length, 'report'), 'bad')}
        ${appeals.length > 0 && badge('appeal', 'bad')}
        <span class="small">since ${renderDateTime(since)}</span>
      </p>
      ${app.quarantineReason !== null && html`<p class="small">Quarantined by ${app.quarantinedBy}: <bdi>${app.quarantineReason}</bdi></p>`}
      ${newest && html`<p><strong>${reportReasons[newest.reason]}.</strong> <bdi>${newest.text}</bdi></p>`}
      ${appeals.map(({ text }) => html`<blockquote><bdi>${text}</bdi></blockquote>`)}
      ${caseFindings(version)}
      ${app.takenDown === null ? caseForm(token, one, failed) : appealLink(app)}
    </div>
  </li>`
}

/** Takes an app of the queue down or approves it. */
export const decideCase = decideAbout(
  ['takedown', 'release', 'dismiss', 'restore'],
  (sent) => sent.text('item'),
  place,
)

/** Blocks or unblocks a page by its hash. */
export const decideHash = decideAbout(
  ['block', 'unblock'],
  (sent) => {
    const item = sent.text('sha256').trim().toLowerCase()
    if (/^[0-9a-f]{64}$/.test(item)) return item
    rejectRequest(t('Enter a SHA-256 hash: 64 digits of 0-9 and a-f.'))
  },
  place,
)

/** Scans all apps again. */
export const rescanForm = form(decide, {
  fields: () => ({ decision: 'rescan', item: 'all' }),
  then: place,
})

/** Renders the moderation queue and the blocklist. */
export async function queuePage(
  req: UserRequest,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { ctx, token, query } = req
  const [{ cases, people }, blocked] = await Promise.all([
    getCases(req),
    listBlockedPages(ctx, blockedShown),
  ])
  const failed = submitted?.text('decision') === 'block' ? submitted : undefined
  const isOfCase = submitted?.has('item') === true
  const failedCase = isOfCase
    ? { item: submitted.text('item'), why: submitted.text('why'), message }
    : {}
  const isListed = cases.some(({ app }) => app.id === failedCase.item)
  const sha256 = failed?.text('sha256') ?? query.get('sha256') ?? ''
  const again = postForm(
    token,
    '/console/rescan',
    html`${button(t('Rescan all apps'), 'quiet')}`,
    'act',
  )
  const list: Part =
    cases.length > 0
      ? html`<review-keys>
          <ul class="cases" aria-label="Needs review">
            ${cases.map((one) => caseItem(req, one, failedCase))}
          </ul>
          <p class="small">
            Keys: <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>a</kbd> release or dismiss,
            <kbd>t</kbd> take down (type a reason, then Enter), <kbd>o</kbd> open.
          </p>
        </review-keys>`
      : people.length === 0 &&
        emptyState(t('All caught up'), t('Reports, appeals and quarantined apps appear here.'))
  const main = html`${decidedNotice(req, place)}${list}${reportedPeople(people)}
  ${section(
    t('Safety check'),
    html`<p class="small">Checks all apps with the current rules, in the background.</p>
      ${again}`,
  )}
  ${blocklist(token, blocked, { sha256, why: failed?.text('why') })}`
  // The case shows its error; one that was decided elsewhere is gone.
  const shown = isListed ? undefined : message
  const scripts: Page['scripts'] = ['review-keys.js', 'play-here.js']
  return {
    ...consolePage({ place, title: t('Moderation'), message: shown, main, scripts }),
    plays: true,
  }
}

const blockedRow = (token: string, { sha256, app, reason, at }: BlockedPage): Part[] => {
  const unblock = { name: 'decision', value: 'unblock', target: sha256.slice(0, 12) }
  const fields = html`${hiddenField('sha256', sha256)}${button(t('Unblock'), 'quiet slim', unblock)}`
  const lift = postForm(token, '/console/blocklist', fields, 'act')
  const of = html`<a href="/console/apps/${app}">Restore app</a>`
  return [
    html`<code title="${sha256}">${sha256.slice(0, 16)}…</code>`,
    html`<bdi>${reason}</bdi>`,
    renderDateTime(at),
    app === '' ? lift : of,
  ]
}

/** Renders the blocked pages, with a form that blocks another one. */
function blocklist(
  token: string,
  blocked: BlockedPage[],
  { sha256, why }: { sha256: string; why?: string | undefined },
): Html {
  const fields = html`${inputField({ label: t('SHA-256 hash of a page'), name: 'sha256', max: 64, value: sha256 })}${inputField({ label: t('Reason'), name: 'why', max: 200, value: why })}${button(t('Block page'), 'quiet danger', { name: 'decision', value: 'block' })}`
  const heads = [t('Page'), { long: t('Reason') }, t('Since'), { unseen: t('Unblock') }]
  const rows = blocked.map((page) => blockedRow(token, page))
  return html`<section id="blocklist">
    <h2>Blocked pages</h2>
    <p class="small">
      A page with a blocked hash cannot be published. Existing apps with the page are quarantined.
    </p>
    ${dataTable(t('Blocked pages'), heads, rows, false)}
    <details ${(sha256 !== '' || why !== undefined) && html`open`}>
      <summary>Block a page by its hash</summary>
      ${postForm(token, '/console/blocklist', fields)}
    </details>
  </section>`
}

/** Findings of a page that fit beside it. */
const findingsShown = 5

/**
 * Renders the picture of a page that needs a decision. A press shows the page itself in the
 * sandbox, also while it is in quarantine. Nothing of it runs before.
 */
export function caseImage(ctx: AppContext, app: apps.App, version: apps.Version | undefined): Part {
  if (!version || isPackKind(app.kind)) return false
  const { id, kind, title, shelf } = app
  const shown = { id, kind, shelf, icon: null, cover: presentVersionCover(ctx, version) }
  return html`<play-here data-title="${title}"
    ><a
      class="poster"
      href="/a/${id}/versions/${version.version}"
      aria-label="Show its page in a safe frame"
      >${itemCover(ctx, shown)}<span class="start-button">${playIcon}</span></a
    ></play-here
  >`
}

/** Renders what the safety check found in the newest version of an item. */
export function caseFindings(version: apps.Version | undefined): Part {
  const all = version?.findings ?? []
  if (all.length === 0) return html`<p class="small">The safety check found nothing.</p>`
  const more = all.length - findingsShown
  return html`<ul class="small case-findings">
    ${all
      .slice(0, findingsShown)
      .map(
        ({ code, line, excerpt }) =>
          html`<li>${findingName(code)} in line ${line}: <code>${excerpt}</code></li>`,
      )}${more > 0 && html`<li>${more} more</li>`}
  </ul>`
}
