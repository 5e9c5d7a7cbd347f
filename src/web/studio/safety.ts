import { type Html, html } from '../../core/markup.ts'
import { sentence } from '../../core/text.ts'
import { iso } from '../../core/time.ts'
import { presentFinding } from '../../hosting/apps/publish.ts'
import { getScan } from '../../hosting/apps/scan/scans.ts'
import { getHtml } from '../../hosting/apps/versions/versions.ts'
import { renderDateTime } from '../components.ts'
import { form } from '../forms.ts'
import type { Page } from '../layout.ts'
import { appealForm } from './appeal.ts'
import type { SourceLine } from './excerpts.ts'
import { readExcerpts } from './source.ts'
import { type Studio, studioPage, studioPath } from './studio.ts'

const verdicts = {
  clean: 'Nothing found.',
  warn: 'It may be hosted; see what was found.',
  block: 'It may not be shown until this is mended.',
}

const severities = { block: 'Blocks', unlist: 'Keeps it off Explore', warn: 'Warning' }

/** What the safety check says of the newest page, each finding with its place in the source. */
export async function safetyPage(studio: Studio): Promise<Page> {
  const { app, agent, signedIn } = studio
  if (app.version === 0) {
    return studioPage(studio, 'safety', html`<p>There is no page to read yet.</p>`)
  }
  const { verdict, scanned, findings } = await getScan(signedIn.ctx, agent, app.id)
  const places =
    findings.length === 0
      ? []
      : await readExcerpts(await getHtml(signedIn.ctx, agent, app.id, app.version), findings)
  const again = html`<button class="button quiet">Check it again</button>`
  const main = html`<section>
      <h2>Safety check</h2>
      <p>
        ${verdicts[verdict]}
        <span class="small">Version ${app.version}, ${renderDateTime(iso(scanned))}</span>
      </p>
      <ul class="findings">
        ${findings.map((one, at) => renderFinding(presentFinding(one), places[at] ?? []))}
      </ul>
      ${form(signedIn.token, studioPath(studio, 'rescan'), again)}
    </section>
    ${
      app.heldAt !== null &&
      html`<section>
        <h2>Appeal</h2>
        <p>
          It is held back since ${renderDateTime(iso(app.heldAt))}:
          <bdi>${sentence(app.heldFor ?? '')}</bdi>
        </p>
        ${await appealForm(studio)}
      </section>`
    }`
  return studioPage(studio, 'safety', main)
}

function renderFinding(
  { code, line, help, severity }: ReturnType<typeof presentFinding>,
  lines: SourceLine[],
): Html {
  return html`<li>
    <h3>
      <code>${code}</code> <span class="badge ${severity}">${severities[severity]}</span>
      <span class="small">line ${line}</span>
    </h3>
    <p>${help}</p>
    <div class="source" role="region" aria-label="Source at line ${line}" tabindex="0">
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
    </div>
  </li>`
}
