import { type Appeal, sanctionedAt } from '../../apps/appeal/appeals.ts'
import * as apps from '../../apps/apps.ts'
import { getAudience } from '../../apps/audience/audience.ts'
import { isFeatured } from '../../apps/explore/explore.ts'
import { imageTypeOf } from '../../apps/folders/read-pack.ts'
import { isPackKind, itemUrl } from '../../apps/kinds.ts'
import { readFiles } from '../../apps/packs/packs.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { decisionReasonCharsMax, versionsPerAppMax } from '../../kernel/limits.ts'
import { t } from '../../kernel/words/message.ts'
import { section } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { formatBytes, renderDateTime } from '../../site/format.ts'
import { button, type Form, hiddenField, notice, postForm, textArea } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable } from '../../site/lists.ts'
import { fileTree } from '../../site/packs/pack-page.ts'
import type { UserRequest } from '../../site/session.ts'
import {
  audienceFields,
  linkNote,
  readAudience,
  readLink,
  shareLinks,
} from '../../site/studio/access.ts'
import {
  changeItemAudience,
  createItemLink,
  revokeItemLink,
} from '../operator/audience-operations.ts'
import { type AppCase, findAppCase } from '../operator/cases.ts'
import type { Decision } from '../operator/decisions.ts'
import { decide } from '../operator/operations.ts'
import { decideAbout, decidedNotice, decidedPath } from './access.ts'
import { decisionHistory } from './audit.ts'
import {
  badge,
  consolePage,
  decisionForm,
  type DecisionOption,
  openReports,
  stateBadge,
} from './components.ts'
import { caseFindings, caseImage } from './queue.ts'

/** The stored reason starts with the verdict. */
const replyCharsMax = decisionReasonCharsMax - 'grant '.length

/** Decisions on an appeal. */
const verdicts: ReadonlySet<string> = new Set(['grant', 'deny'])

/** All decisions about an app. */
const appDecisions: readonly Decision[] = [
  'takedown',
  'restore',
  'hold',
  'release',
  'dismiss',
  'rescan',
]

/** Returns the form that decides about an app, or about its appeal. */
export function decideApp(id: string, sent: Form) {
  const page = `/console/apps/${id}`
  const verdict = sent.text('decision')
  if (!verdicts.has(verdict)) return decideAbout(appDecisions, () => id, page)
  return form(decide, {
    // The stored reason starts with the verdict.
    fields: () => ({ decision: 'decide', item: id, why: `${verdict} ${sent.text('why').trim()}` }),
    then: decidedPath(page, verdict, id),
  })
}

/** Returns the form that changes who may open an app. */
export const changeAppAudience = (id: string) =>
  form(changeItemAudience, {
    params: { id },
    fields: readAudience,
    then: decidedPath(`/console/apps/${id}`, 'audience', id),
  })

/** Returns the form that creates a share link of an app, whose address it shows once. */
export const createAppLink = (id: string) =>
  form(createItemLink, {
    params: { id },
    fields: readLink,
    then: ({ url }, _, req: UserRequest) => appPage(req, id, { note: linkNote(url) }),
  })

/** Returns the form that revokes a share link of an app. */
export const revokeAppLink = (id: string) =>
  form(revokeItemLink, {
    params: (sent) => ({ id, link: sent.text('link') }),
    then: decidedPath(`/console/apps/${id}`, 'revoke-link', id),
  })

/** Returns the decisions that apply to the app's state. */
function decisionOptions({ app, reports }: AppCase): DecisionOption[] {
  const rescan: DecisionOption = ['rescan', t('Rescan')]
  const consequence = t('Closed reports cannot be reopened.')
  const dismiss: DecisionOption = ['dismiss', t('Dismiss reports'), consequence]
  if (app.takenDown !== null) return [['restore', t('Restore')]]
  if (app.closed !== null) return []
  return [
    app.quarantinedAt === null ? ['hold', t('Quarantine')] : ['release', t('Release')],
    ['takedown', t('Take down')],
    ...(reports.length > 0 ? [dismiss] : []),
    rescan,
  ]
}

function appealSection(
  context: { token: string; action: string; why?: string; error?: string | undefined },
  appeal: Appeal,
): Html {
  const { token, action, why: value, error } = context
  const { at, text } = appeal
  const reply = { label: t('Reply'), name: 'why', hint: t('Sent to the maker.'), value, error }
  const fields = html`${textArea({ ...reply, max: replyCharsMax, required: true })}
    <div class="actions">
      <button class="button" name="decision" value="grant">Grant appeal</button>
      <button class="button quiet danger" name="decision" value="deny">Deny appeal</button>
    </div>`
  return section(
    t('Appeal'),
    html`<blockquote><bdi>${text}</bdi></blockquote>
      <p class="small">${renderDateTime(at)}</p>
      ${postForm(token, action, fields)}`,
  )
}

/** Opens a version: an app in its sandbox, a pack as text. */
const versionPath = ({ id, kind }: apps.App, version: number): string =>
  isPackKind(kind) ? `/console/apps/${id}/files?version=${version}` : `/a/${id}/versions/${version}`

const versionRow =
  (app: apps.App) =>
  ({ version, verdict, findings, sha256, htmlBytes, created }: apps.Version): Part[] => [
    html`<a href="${versionPath(app, version)}" target="_blank">Open version ${version}</a>`,
    badge(verdict, verdict === 'clean' ? 'good' : verdict === 'block' ? 'bad' : 'plain'),
    findings.map(({ code }) => code).join(', ') || '–',
    formatBytes(htmlBytes),
    renderDateTime(created),
    html`<a href="/console/queue?sha256=${sha256}#blocklist" aria-label="Block version ${version}"
      >Block</a
    >`,
  ]

function appSummary({ app, maker }: AppCase, link: string): Html {
  const why = app.takenDown !== null ? app.takedownReason : app.quarantineReason
  const since = sanctionedAt(app)
  return html`<p class="lead">
      by <a href="/console/agents/${maker}"><bdi>@${maker}</bdi></a> · ${stateBadge(app)} · Explore:
      ${app.listed} · Audience:
      ${app.audience}${app.expires !== null && html`, until ${renderDateTime(app.expires)}`}
    </p>
    ${
      since !== null &&
      html`<p>
        Since
        ${renderDateTime(since)}${app.quarantinedBy !== null && t(', by {quarantinedBy}', { quarantinedBy: app.quarantinedBy })}:
        <bdi>${why}</bdi>
      </p>`
    }
    ${
      app.version > 0 &&
      html`<p>
        <a href="${versionPath(app, app.version)}" target="_blank"
          >${isPackKind(app.kind) ? t('Read its files') : t('Open in sandbox')}</a
        >
      </p>`
    }
    <p class="small">Public link: <a href="${link}">${link}</a></p>`
}

const featureSection = (token: string, action: string, isPicked: boolean): Html =>
  section(
    t('Home page'),
    html`<p>
        ${isPicked ? t('It is featured on the home page. The newest choice is shown large.') : t('It is not featured.')}
      </p>
      ${postForm(token, `${action}/feature`, isPicked ? html`${hiddenField('remove', 'yes')}${button(t('Remove from home page'), 'quiet')}` : button(t('Feature on home page'), 'quiet'), 'act')}`,
  )

/** Renders who may open an app, with its share links. */
async function audienceSections(
  { ctx, token }: UserRequest,
  app: apps.App,
  submitted: Form | undefined,
): Promise<Html> {
  const action = `/console/apps/${app.id}`
  const audience = await getAudience(ctx, app)
  const fields = audienceFields(app, audience, submitted)
  return html`<details class="access" ${submitted && html` open`}>
    <summary><h2>Who can open it</h2></summary>
    ${postForm(token, `${action}/audience`, fields)}
    ${shareLinks({ ctx, token }, app, audience, {
      create: `${action}/links`,
      revoke: `${action}/revoke-link`,
      submitted,
    })}
  </details>`
}

/** The result of a form of the page: its error with what was sent, or a note. */
interface FormResult {
  message?: string
  submitted?: Form
  note?: string
}

/** Renders an app with its reports, appeals and decisions. Throws `not_found`. */
export async function appPage(
  req: UserRequest,
  id: string,
  { message, submitted, note }: FormResult = {},
): Promise<Page> {
  const { ctx, token } = req
  const known = await findAppCase(ctx, id)
  if (!known) throw new ApiError('not_found', { what: 'app' })
  const { app, versions, reports, appeals, decisions } = known
  const action = `/console/apps/${id}`
  const hint = t('Required for a takedown or a quarantine. The maker receives it.')
  const isVerdict = verdicts.has(submitted?.text('decision') ?? '') && appeals.length > 0
  const options = decisionOptions(known)
  // The forms without a reason show their errors at the top of the page.
  const isDecision = submitted?.has('decision') === true
  const failed = isDecision && { why: submitted.text('why'), error: message }
  const isOpen = app.takenDown === null && app.closed === null
  const heads = [
    t('Preview'),
    t('Verdict'),
    { long: t('Findings') },
    { number: t('Size') },
    t('Created'),
    { unseen: t('Block') },
  ]
  const [newest] = versions
  const main = html`${decidedNotice(req, action)}${notice(note)}
    <div class="case-columns">
      <div>
        ${appSummary(known, itemUrl(ctx, app))}
        ${appeals.map((appeal) => appealSection({ token, action, ...(isVerdict && failed) }, appeal))}
        ${openReports(reports)}
        ${section(t('Actions'), decisionForm(token, { action, hint, ...(!isVerdict && failed) }, options))}
      </div>
      <div>${caseImage(ctx, app, newest)}${caseFindings(newest)}</div>
    </div>
    ${isOpen && (await audienceSections(req, app, submitted))}
    ${app.listed === 'on' && featureSection(token, action, await isFeatured(ctx, id))}
    ${section(t('Version history'), dataTable(t('Versions'), heads, versions.map(versionRow(app))))}
    ${decisionHistory(decisions)}`
  // The form shows the error; a deleted app has no form.
  const pageMessage = isDecision && (isVerdict || options.length > 0) ? undefined : message
  const scripts: Page['scripts'] = ['play-here.js']
  return {
    ...consolePage({
      place: '/console/queue',
      title: app.title,
      message: pageMessage,
      main,
      scripts,
    }),
    plays: true,
  }
}

/**
 * Shows the operator the source of a version of a pack in any state, never rendered. Throws
 * `not_found` and `bad_request`.
 */
export async function packFilesPage({ ctx, query }: UserRequest, id: string): Promise<Page> {
  const app = await apps.findApp(ctx, id)
  if (!app) throw new ApiError('not_found', { what: 'pack' })
  const chosen = Number(query.get('version') ?? app.version)
  const version = requireWhole('version', chosen, versionsPerAppMax)
  const row = await apps.getVersion(ctx, id, version)
  if (!row.folder) throw new ApiError('not_found', { what: 'pack' })
  const files = await readFiles(ctx, row)
  const file = files.find(({ path }) => path === query.get('file')) ?? files[0]
  const path = file?.path ?? ''
  const text =
    file && imageTypeOf(path) === undefined
      ? new TextDecoder().decode(file.bytes)
      : t('An image of {byteLength}.', { byteLength: formatBytes(file?.bytes.byteLength ?? 0) })
  const viewUrl = `/console/apps/${id}/files?version=${version}&file=`
  const main = html`<p><a href="/console/apps/${id}">Back to the case</a></p>
    <div class="pack-columns">
      ${fileTree(row.folder.files, viewUrl, path)}
      <div class="file-view">
        <pre class="plain-file" tabindex="0" aria-label="${path}"><code>${text}</code></pre>
      </div>
    </div>`
  const title = t('{title}, version {version}', { title: app.title, version })
  return {
    ...consolePage({ place: '/console/queue', title, main }),
    styles: ['console.css', 'packs.css'],
  }
}
