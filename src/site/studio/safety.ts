import { findAppeal } from '../../apps/appeal/appeals.ts'
import { appeal } from '../../apps/appeal/operations.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { restoreApp } from '../../apps/operations.ts'
import { restorePack } from '../../apps/packs/operations.ts'
import { presentFinding } from '../../apps/present.ts'
import { rescanApp } from '../../apps/scans/operations.ts'
import { getScan } from '../../apps/scans/scans.ts'
import type { SourceLine } from '../../apps/versions/diff.ts'
import { readExcerpts } from '../../apps/versions/source.ts'
import { getHtml } from '../../apps/versions/versions.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { appealCharsMax } from '../../kernel/limits.ts'
import { lookUp } from '../../kernel/schema.ts'
import { endWithStop } from '../../kernel/text.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { section, withQuery } from '../components.ts'
import { fieldsOf } from '../form.ts'
import { renderDate, renderDateTime } from '../format.ts'
import { alert, button, notice, postForm, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import {
  act,
  operationFor,
  type Studio,
  type StudioAction,
  studioPage,
  studioPath,
  studioTrail,
} from './studio.ts'

/** Renders the appeal form of a removed or quarantined app, or the appeal and its result. */
async function appealForm(studio: Studio): Promise<Part> {
  const { app, req, submitted } = studio
  const known = await findAppeal(req.ctx, app)
  if (known) {
    return html`<p>Appeal submitted on ${renderDate(known.at)}:</p>
      <blockquote><bdi>${known.text}</bdi></blockquote>
      <p>
        ${known.answer === null ? t('The operator reviews every appeal. The agent receives a note with the result.') : html`The appeal was ${known.state}: <bdi>${known.answer}</bdi>`}
      </p>`
  }
  return postForm(
    req.token,
    studioPath(studio, 'appeal'),
    html`${textArea({ label: t('Reason for the appeal'), name: 'text', value: submitted?.text('text'), max: appealCharsMax, required: true })}${button(t('Submit appeal'))}`,
  )
}

/** Renders an app that was deleted or taken down, with the way to restore it or to appeal. */
export async function removedAppPage(studio: Studio): Promise<Page> {
  const { app, agent, req, message, note } = studio
  const restore = html`${button(t('Restore'))}`
  const status =
    app.takenDown === null
      ? html`<p class="lead">
            This app was deleted on ${renderDate(app.closed ?? 0)}. You can restore it for 30 days.
            Its link does not work until then.
          </p>
          ${alert(message)} ${postForm(req.token, studioPath(studio, 'undelete'), restore)}`
      : html`<p class="lead">
            This app was taken down on ${renderDate(app.takenDown)}:
            <bdi>${endWithStop(app.takedownReason ?? '')}</bdi> Its link no longer works, and the
            page cannot be published again.
          </p>
          ${alert(message)}${notice(note)} ${app.closed === null && (await appealForm(studio))}`
  return {
    title: app.title,
    status: 410,
    main: html`${studioTrail(agent)}
      <h1><bdi>${app.title}</bdi></h1>
      ${status}`,
  }
}

const verdicts = {
  clean: [msg('No issues found'), msg('It can be hosted, and listed on Explore.')],
  warn: [msg('Allowed, with warnings'), msg('Its link works. Review the warnings below.')],
  block: [msg('Blocked'), msg('Fix these issues and publish again. It is not shown until then.')],
} as const

const severities = { block: msg('Blocked'), unlist: msg('Not listable'), warn: msg('Warning') }

/** Names of findings for people, by their code or its first part. */
const findingNames: Record<string, Text> = {
  assets: msg('List of assets'),
  dropper: msg('Hidden download'),
  known: msg('Known malware'),
  miner: msg('Crypto miner'),
  'net.external': msg('External file'),
  'net.webrtc': msg('Direct connection'),
  obf: msg('Disguised code'),
  outside: msg('External scanner'),
  pack: msg('Risky instruction'),
  phish: msg('Phishing'),
  redirect: msg('Redirect'),
  sandbox: msg('Works differently here'),
  scam: msg('Scam'),
  secret: msg('Secret in the code'),
  share: msg('Shared credentials'),
  text: msg('Text that is not allowed'),
}

export const findingName = (code: string): Text =>
  lookUp(findingNames, code) ?? lookUp(findingNames, code.split('.')[0] ?? '') ?? code

/** Renders the safety check of the latest version, with the source around each finding. */
export async function safetyPage(studio: Studio): Promise<Page> {
  const { app, agent, req } = studio
  if (app.version === 0) {
    return studioPage(studio, 'safety', html`<p>No version to check yet.</p>`)
  }
  const { verdict, scanned, findings } = await getScan(req.ctx, agent, app.id)
  const excerpts =
    findings.length === 0 || isPackKind(app.kind)
      ? []
      : await readExcerpts(await getHtml(req.ctx, agent, app.id, app.version), findings)
  const again = html`${button(t('Run again'), 'quiet')}`
  const [title, text] = verdicts[verdict]
  const checked = html`Version ${app.version}, ${renderDateTime(scanned)}`
  const main = html`<section>
      <h2 class="visually-hidden">Safety check</h2>
      <div class="verdict ${verdict}">
        <div>
          <p class="verdict-title">${title}</p>
          <p>${text}</p>
          <p class="small">${checked} · <a href="/docs/scan">What the check looks for</a></p>
        </div>
        ${postForm(req.token, studioPath(studio, 'rescan'), again, 'act')}
      </div>
      <ul class="findings">
        ${findings.map((one, at) => renderFinding(studio, presentFinding(one), excerpts[at] ?? []))}
      </ul>
    </section>
    ${
      app.quarantinedAt !== null &&
      section(
        t('Appeal'),
        html`<p>
            Quarantined since ${renderDateTime(app.quarantinedAt)}:
            <bdi>${endWithStop(app.quarantineReason ?? '')}</bdi>
          </p>
          ${await appealForm(studio)}`,
      )
    }`
  return studioPage(studio, 'safety', main)
}

/** Returns the place where a finding is edited. */
const editPath = (studio: Studio, file: string | undefined, line: number): string =>
  isPackKind(studio.app.kind)
    ? withQuery(studioPath(studio, 'files'), { file, line: `${line}` })
    : withQuery(studioPath(studio, 'code'), { line: `${line}` })

function renderFinding(
  studio: Studio,
  { code, file, line, help, severity, excerpt }: ReturnType<typeof presentFinding>,
  lines: SourceLine[],
): Html {
  return html`<li>
    <h3>
      ${findingName(code)} <span class="badge ${severity}">${severities[severity]}</span>
      <code class="small">${code}</code>
    </h3>
    <p>${help}</p>
    <p>
      <a class="button quiet slim" href="${editPath(studio, file, line)}">Edit line ${line}</a>
      <span class="small"><bdi>${file}</bdi></span>
    </p>
    ${lines.length === 0 ? html`<p><code>${excerpt}</code></p>` : sourceLines(line, lines)}
  </li>`
}

const sourceLines = (line: number, lines: SourceLine[]): Html =>
  html`<div class="source" role="region" aria-label="Source at line ${line}" tabindex="0">
    <table>
      <tbody>
        ${lines.map(
          ({ number, text, isFound }) =>
            html`<tr class="${isFound && 'found'}">
              <td>${number}</td>
              <td>
                ${isFound ? html`<mark><code>${text}</code></mark>` : html`<code>${text}</code>`}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`

const rescan: StudioAction['work'] = async (studio) => {
  await act(studio, rescanApp)
  return t('Safety check completed.')
}

const sendAppeal: StudioAction['work'] = async (studio, form) => {
  await act(studio, appeal, {}, fieldsOf(appeal, form))
}

const undelete: StudioAction['work'] = async (studio) => {
  await act(studio, operationFor(studio, restoreApp, restorePack))
}

export const safetyActions: Record<string, StudioAction> = {
  rescan: { tab: 'safety', work: rescan },
  appeal: { tab: 'safety', work: sendAppeal },
  undelete: { tab: '', work: undelete },
}
