import { getHtml } from '../../apps/versions/versions.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { versionsPerAppMax } from '../../kernel/limits.ts'
import { formatCount } from '../format.ts'
import type { Page } from '../layout.ts'
import type { Diff, DiffLine } from './diff.ts'
import { comparePages } from './source.ts'
import { type Studio, studioPage } from './studio.ts'
import { compareForm } from './versions.ts'

/** Renders the diff of two versions. Throws `bad_request`, `not_found`, `try_again`. */
export async function changesPage(studio: Studio, query: URLSearchParams): Promise<Page> {
  const { app, agent, req } = studio
  const number = (name: string, fallback: number): number =>
    requireWhole(name, Number(query.get(name) ?? fallback), versionsPerAppMax)
  const to = number('to', app.version)
  const from = number('from', Math.max(1, to - 1))
  const [before, after] = await Promise.all(
    [from, to].map((version) => getHtml(req.ctx, agent, app.id, version)),
  )
  if (!before || !after) throw new Error('stored version has no page')
  const found = await comparePages(before, after)
  const main = html`${compareForm(studio, from, to)}
    <section class="changes">
      <h2>Version ${from} to version ${to}</h2>
      ${found === undefined ? tooDifferent : renderDiff(found)}
    </section>`
  return studioPage(studio, 'versions', main)
}

const tooDifferent = html`<p>
  These versions are too different to compare line by line. Preview both instead.
</p>`

function renderDiff({ hunks: places, added, removed, left }: Diff): Part {
  if (places.length === 0) return html`<p>No changes.</p>`
  return html`<p class="small">
      ${formatCount(added, 'line')} added, ${formatCount(removed, 'line')} removed.
    </p>
    ${places.map(renderHunk)}${left > 0 && html`<p class="small">${formatCount(left, 'more line')} not shown.</p>`}`
}

const changeLabels = { '+': 'Added', '-': 'Removed', ' ': '' }
const changeSigns = { '+': '+', '-': '−', ' ': '' }
const changeClasses = { '+': 'added', '-': 'removed', ' ': 'same' }

const renderHunk = (lines: DiffLine[]): Html => {
  const first = lines[0]?.after ?? lines[0]?.before ?? 1
  return html`<div class="source" role="region" aria-label="Changes at line ${first}" tabindex="0">
    <table>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Line before</th>
          <th scope="col">Line after</th>
          <th scope="col">Change</th>
          <th scope="col">Text</th>
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          ({ sign, before, after, text }) =>
            html`<tr class="${changeClasses[sign]}">
              <td>${before}</td>
              <td>${after}</td>
              <td>
                <span aria-hidden="true">${changeSigns[sign]}</span
                ><span class="visually-hidden">${changeLabels[sign]}</span>
              </td>
              <td><code>${text}</code></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
