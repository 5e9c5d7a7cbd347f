import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { ApiError } from '../../errors.ts'
import { against } from '../../hosting/apps/against.ts'
import type { Version } from '../../hosting/apps/apps.ts'
import { linkOf } from '../../hosting/apps/present.ts'
import type { Appeal } from '../../hosting/moderation/appeals.ts'
import { reportReasons } from '../../hosting/moderation/reasons.ts'
import type { Report } from '../../hosting/moderation/reports.ts'
import { whyCharsMax } from '../../limits.ts'
import { type Case, caseOf } from '../../operator/cases.ts'
import type { Decision } from '../../operator/decisions.ts'
import type { Page } from '../layout.ts'
import { momentOf, sizeOf } from '../parts.ts'
import type { Own } from '../people/desk.ts'
import { area, type Form, form } from '../people/form.ts'
import { table } from '../table.ts'
import { badge, consolePage } from './frame.ts'
import { decisionForm, decisions, type Offer, stateBadge } from './parts.ts'

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
function offersOf({ app, reports }: Case): Offer[] {
  const rescan: Offer = ['rescan', 'Rescan']
  const ends = 'They are closed, and cannot be opened again.'
  const dismiss: Offer = ['dismiss', 'Dismiss reports', ends]
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
    <strong>${reportReasons[reason]}</strong> <span class="small">${momentOf(iso(at))}</span>
    ${text !== '' && html`<p><bdi>${text}</bdi></p>`}
    ${contact !== null && html`<p class="small">Reach them at <bdi>${contact}</bdi></p>`}
  </li>`

function appealPart(asked: { token: string; action: string; why: string }, appeal: Appeal): Html {
  const { token, action, why: value } = asked
  const { at, text } = appeal
  const answer = { label: 'Answer', name: 'why', hint: 'The maker reads it.', value }
  const fields = html`${area({ ...answer, max: answerCharsMax, required: true })}
    <div class="acts">
      <button class="button" name="decision" value="grant">Grant it</button>
      <button class="button quiet" name="decision" value="deny">Deny it</button>
    </div>`
  return html`<section>
    <h2>Appeal</h2>
    <blockquote><bdi>${text}</bdi></blockquote>
    <p class="small">${momentOf(iso(at))}</p>
    ${form(token, action, fields)}
  </section>`
}

const versionRow =
  (id: string) =>
  ({ version, verdict, findings, sha256, htmlBytes, created }: Version): Part[] => [
    html`<a href="/a/${id}/versions/${version}" target="_blank">Open version ${version}</a>`,
    badge(verdict, verdict === 'clean' ? 'good' : verdict === 'block' ? 'bad' : 'plain'),
    findings.map(({ code }) => code).join(', ') || '–',
    sizeOf(htmlBytes),
    momentOf(iso(created)),
    html`<a href="/console/queue?sha256=${sha256}#blocklist" aria-label="Block version ${version}"
      >Block</a
    >`,
  ]

function facts({ app, maker }: Case, link: string): Html {
  const why = app.takenDown !== null ? app.takenDownFor : app.heldFor
  const since = against(app)
  return html`<p class="lead">
      by <a href="/console/agents/${maker}">@${maker}</a> · ${stateBadge(app)} · on Explore:
      ${app.listed}
    </p>
    ${
      since !== null &&
      html`<p>
        Since ${momentOf(iso(since))}${app.heldBy !== null && `, by ${app.heldBy}`}:
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
export async function casePage(own: Own, id: string, said?: string, sent?: Form): Promise<Page> {
  const { ctx, token } = own
  const known = await caseOf(ctx, id)
  if (!known) throw new ApiError('not_found', { what: 'app' })
  const { app, versions, reports, appeals, decided } = known
  const action = `/console/apps/${id}`
  const hint = 'The maker is told. A takedown and a hold need one.'
  const why = sent?.text('why') ?? ''
  const isVerdict = verdicts.has(sent?.text('decision') ?? '')
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
  const main = html`${facts(known, linkOf(ctx, id))}
    ${appeals.map((appeal) => appealPart({ token, action, why: isVerdict ? why : '' }, appeal))}
    ${told}
    <section>
      <h2>Decide</h2>
      ${decisionForm(token, { action, hint, why: isVerdict ? '' : why }, offersOf(known))}
    </section>
    <section>
      <h2>Versions</h2>
      ${table('Versions', heads, versions.map(versionRow(id)))}
    </section>
    ${decisions(decided)}`
  return consolePage({ place: '/console/queue', title: app.title, said, main })
}
