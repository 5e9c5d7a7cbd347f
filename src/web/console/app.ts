import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { ApiError } from '../../errors.ts'
import { sanctionedAt } from '../../hosting/apps/against.ts'
import type { Appeal } from '../../hosting/apps/appeal/appeals.ts'
import type { Version } from '../../hosting/apps/apps.ts'
import { appUrl } from '../../hosting/apps/present.ts'
import { reportReasons } from '../../hosting/reports/reasons.ts'
import type { Report } from '../../hosting/reports/reports.ts'
import { whyCharsMax } from '../../limits.ts'
import { type Case, caseOf } from '../../operator/cases.ts'
import type { Decision } from '../../operator/decisions.ts'
import { formatBytes, renderDateTime } from '../components.ts'
import { dataTable } from '../data-table.ts'
import { form, type SubmittedForm, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import type { SignedInRequest } from '../session.ts'
import { decisionForm, decisionHistory, type DecisionOption, stateBadge } from './components.ts'
import { badge, consolePage } from './layout.ts'

/** The verdict stands before the answer. */
const answerCharsMax = whyCharsMax - 'grant '.length

/** What may be said to an appeal. */
export const verdicts: ReadonlySet<string> = new Set(['grant', 'deny'])

/** What may be decided about an app at all. */
export const appDecisions: Decision[] = [
  'takedown',
  'restore',
  'hold',
  'release',
  'dismiss',
  'rescan',
  'decide',
]

/** What may be decided about it as it stands. */
function decisionOptions({ app, reports }: Case): DecisionOption[] {
  const rescan: DecisionOption = ['rescan', 'Rescan']
  const ends = 'They are closed, and cannot be opened again.'
  const dismiss: DecisionOption = ['dismiss', 'Dismiss reports', ends]
  if (app.takenDown !== null) return [['restore', 'Restore']]
  if (app.closed !== null) return []
  return [
    app.heldAt === null ? ['hold', 'Hold back'] : ['release', 'Release'],
    ['takedown', 'Take down'],
    ...(reports.length > 0 ? [dismiss] : []),
    rescan,
  ]
}

const reportItem = ({ at, reason, text, contact }: Report): Html =>
  html`<li>
    <strong>${reportReasons[reason]}</strong> <span class="small">${renderDateTime(iso(at))}</span>
    ${text !== '' && html`<p><bdi>${text}</bdi></p>`}
    ${contact !== null && html`<p class="small">Reach them at <bdi>${contact}</bdi></p>`}
  </li>`

function appealSection(
  asked: { token: string; action: string; why: string },
  appeal: Appeal,
): Html {
  const { token, action, why: value } = asked
  const { at, text } = appeal
  const answer = { label: 'Answer', name: 'why', hint: 'The maker reads it.', value }
  const fields = html`${textArea({ ...answer, max: answerCharsMax, required: true })}
    <div class="acts">
      <button class="button" name="decision" value="grant">Grant it</button>
      <button class="button quiet" name="decision" value="deny">Deny it</button>
    </div>`
  return html`<section>
    <h2>Appeal</h2>
    <blockquote><bdi>${text}</bdi></blockquote>
    <p class="small">${renderDateTime(iso(at))}</p>
    ${form(token, action, fields)}
  </section>`
}

const versionRow =
  (id: string) =>
  ({ version, verdict, findings, sha256, htmlBytes, created }: Version): Part[] => [
    html`<a href="/a/${id}/versions/${version}" target="_blank">Open version ${version}</a>`,
    badge(verdict, verdict === 'clean' ? 'good' : verdict === 'block' ? 'bad' : 'plain'),
    findings.map(({ code }) => code).join(', ') || '–',
    formatBytes(htmlBytes),
    renderDateTime(iso(created)),
    html`<a href="/console/queue?sha256=${sha256}#blocklist" aria-label="Block version ${version}"
      >Block</a
    >`,
  ]

function appSummary({ app, maker }: Case, link: string): Html {
  const why = app.takenDown !== null ? app.takenDownFor : app.heldFor
  const since = sanctionedAt(app)
  return html`<p class="lead">
      by <a href="/console/agents/${maker}">@${maker}</a> · ${stateBadge(app)} · on Explore:
      ${app.listed}
    </p>
    ${
      since !== null &&
      html`<p>
        Since ${renderDateTime(iso(since))}${app.heldBy !== null && `, by ${app.heldBy}`}:
        <bdi>${why}</bdi>
      </p>`
    }
    ${
      app.version > 0 &&
      html`<p class="acts">
        <a class="button quiet" href="/a/${app.id}/versions/${app.version}" target="_blank"
          >Look at it in the sandbox</a
        >
      </p>`
    }
    <p class="small">Public link: <a href="/a/${app.id}">${link}</a></p>`
}

/** One app with all that decides about it. Refuses not_found. */
export async function appPage(
  signedIn: SignedInRequest,
  id: string,
  message?: string,
  submitted?: SubmittedForm,
): Promise<Page> {
  const { ctx, token } = signedIn
  const known = await caseOf(ctx, id)
  if (!known) throw new ApiError('not_found', { what: 'app' })
  const { app, versions, reports, appeals, decided } = known
  const action = `/console/apps/${id}`
  const hint = 'The maker is told. A takedown and a hold need one.'
  const why = submitted?.text('why') ?? ''
  const isVerdict = verdicts.has(submitted?.text('decision') ?? '')
  const told: Part =
    reports.length > 0 &&
    html`<section>
      <h2>Open reports</h2>
      <ul class="rows">
        ${reports.map(reportItem)}
      </ul>
    </section>`
  const heads = [
    'Preview',
    'Check',
    { long: 'Findings' },
    { number: 'Size' },
    'Made',
    { unseen: 'Block' },
  ]
  const main = html`${appSummary(known, appUrl(ctx, id))}
    ${appeals.map((appeal) => appealSection({ token, action, why: isVerdict ? why : '' }, appeal))}
    ${told}
    <section>
      <h2>Decide</h2>
      ${decisionForm(token, { action, hint, why: isVerdict ? '' : why }, decisionOptions(known))}
    </section>
    <section>
      <h2>Versions</h2>
      ${dataTable('Versions', heads, versions.map(versionRow(id)))}
    </section>
    ${decisionHistory(decided)}`
  return consolePage({ place: '/console/queue', title: app.title, message, main })
}
