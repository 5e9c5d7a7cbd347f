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
import { msg, t } from '../../kernel/words/message.ts'
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
import { findingName } from '../../site/studio/safety.ts'
import { wireWord } from '../../site/wire-words.ts'
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
  type Fact,
  factLines,
  openReports,
  ownerLink,
  stateBadge,
} from './components.ts'
import { decisionList, type DecisionOption } from './decisions.ts'
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

/** Returns the decisions that apply to an app's state. The verdict on an appeal has a form. */
function decisionOptions({ app, reports, appeals }: AppCase): DecisionOption[] {
  const reason = t('The maker receives it.')
  const hasAppeal = appeals.length > 0
  if (app.takenDown !== null) {
    const restore: DecisionOption = {
      name: 'restore',
      label: t('Restore'),
      effect: t('Its page and its place on Explore come back.'),
      reason,
    }
    return hasAppeal ? [] : [restore]
  }
  if (app.closed !== null) return []
  const dismiss: DecisionOption = {
    name: 'dismiss',
    label: t('Dismiss reports'),
    effect: t('Closed reports cannot be reopened.'),
    reason: t('It is kept in the audit log.'),
  }
  const hold: DecisionOption = {
    name: 'hold',
    label: t('Quarantine'),
    effect: t('Its page is closed until you release it or take it down.'),
    reason,
    isRequired: true,
    isDestructive: true,
  }
  const release: DecisionOption = {
    name: 'release',
    label: t('Release'),
    effect: t('Its page is public again, and its reports are closed.'),
    reason,
  }
  return [
    ...(reports.length > 0 ? [dismiss] : []),
    ...(app.quarantinedAt === null ? [hold] : hasAppeal ? [] : [release]),
    {
      name: 'takedown',
      label: t('Take down'),
      effect: t('Its page is gone for everyone. The maker can appeal.'),
      reason,
      isRequired: true,
      isDestructive: true,
    },
    { name: 'rescan', label: t('Rescan'), effect: t('Checks it with the current rules.') },
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
      <button class="button quiet" name="decision" value="deny">Deny appeal</button>
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
    [...new Set(findings.map(({ code }) => findingName(code)))].join(', ') || '–',
    formatBytes(htmlBytes),
    renderDateTime(created),
    html`<a href="/console/queue?sha256=${sha256}#blocklist" aria-label="Block version ${version}"
      >Block</a
    >`,
  ]

function versionSection(app: apps.App, versions: apps.Version[]): Html {
  const heads = [
    t('Preview'),
    t('Verdict'),
    { long: t('Findings') },
    { number: t('Size') },
    t('Created'),
    { unseen: t('Block') },
  ]
  const rows = versions.map(versionRow(app))
  return section(t('Version history'), dataTable(t('Versions'), heads, rows))
}

const exploreStates = { on: msg('listed'), pending: msg('pending'), off: msg('not listed') }

function appFacts({ app, maker }: AppCase, link: string): Fact[] {
  const why = app.takenDown !== null ? app.takedownReason : app.quarantineReason
  const since = sanctionedAt(app)
  const by = app.quarantinedBy
  const facts: Fact[] = [[t('State'), stateBadge(app)]]
  if (since !== null) {
    const who = by !== null && t(', by {quarantinedBy}', { quarantinedBy: by })
    facts.push([t('Since'), html`${renderDateTime(since)}${who}: <bdi>${why}</bdi>`])
  }
  const until = app.expires !== null && html`, until ${renderDateTime(app.expires)}`
  facts.push(
    [t('Maker'), ownerLink(`@${maker}`)],
    [t('Audience'), html`${wireWord(app.audience)}${until}`],
    [t('Explore'), t(exploreStates[app.listed])],
    [t('Public link'), html`<a href="${link}">${link}</a>`],
  )
  if (app.version > 0) {
    const read = isPackKind(app.kind) ? t('Read its files') : t('Open in sandbox')
    const path = versionPath(app, app.version)
    facts.push([t('Version'), html`${app.version} · <a href="${path}" target="_blank">${read}</a>`])
  }
  return facts
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
  const name = submitted?.text('decision') ?? ''
  const isVerdict = verdicts.has(name) && appeals.length > 0
  const options = decisionOptions(known)
  // The forms without a reason show their errors at the top of the page.
  const isDecision = submitted?.has('decision') === true
  const typed = isDecision && { why: submitted.text('why'), error: message }
  const isShown = isVerdict || options.some((option) => option.name === name)
  const failed = typed && !isVerdict ? { name, ...typed } : undefined
  const isOpen = app.takenDown === null && app.closed === null
  const [newest] = versions
  const image = caseImage(ctx, app, newest)
  const check = section(t('Safety check'), caseFindings(newest))
  const decision = html`${factLines(appFacts(known, itemUrl(ctx, app)))} ${image === false && check}
  ${appeals.map((appeal) => appealSection({ token, action, ...typed, error: isVerdict ? message : undefined }, appeal))}
  ${openReports(reports)}
  ${options.length > 0 && section(t('Actions'), decisionList(token, { action, failed }, options))}`
  const main = html`${decidedNotice(req, action)}${notice(note)}
  ${
    image === false
      ? decision
      : html`<div class="case-columns">
          <div>${image}${check}</div>
          <div>${decision}</div>
        </div>`
  }
  ${versionSection(app, versions)} ${decisionHistory(decisions)}
  ${isOpen && (await audienceSections(req, app, submitted))}
  ${app.listed === 'on' && featureSection(token, action, await isFeatured(ctx, id))}`
  // The form shows the error; a deleted app has no form.
  const pageMessage = isDecision && isShown ? undefined : message
  const scripts: Page['scripts'] = ['play-here.js']
  return {
    ...consolePage({
      place: '/console/queue',
      title: app.title,
      above: [['/console/queue', t('Moderation')]],
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
  const main = html`<div class="pack-columns">
    ${fileTree(row.folder.files, viewUrl, path)}
    <div class="file-view">
      <pre class="plain-file" tabindex="0" aria-label="${path}"><code>${text}</code></pre>
    </div>
  </div>`
  const title = t('{title}, version {version}', { title: app.title, version })
  return {
    ...consolePage({
      place: '/console/queue',
      title,
      above: [
        ['/console/queue', t('Moderation')],
        [`/console/apps/${id}`, app.title],
      ],
      main,
    }),
    styles: ['console.css', 'packs.css'],
  }
}
