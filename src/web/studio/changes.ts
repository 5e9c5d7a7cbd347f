import { wholeOf } from '../../core/cursor.ts'
import { type Html, html, type Part } from '../../core/markup.ts'
import { getHtml } from '../../hosting/apps/versions/versions.ts'
import { versionsPerAppMax } from '../../limits.ts'
import { formatCount } from '../components.ts'
import type { Page } from '../layout.ts'
import type { Diff, DiffLine } from './diff.ts'
import { comparePages } from './source.ts'
import { type Studio, studioPage } from './studio.ts'
import { compareForm } from './versions.ts'

/** What differs between two versions. Refuses bad_request, not_found, try_again. */
export async function changesPage(studio: Studio, query: URLSearchParams): Promise<Page> {
  const { app, agent, signedIn } = studio
  const number = (name: string, unsaid: number): number =>
    wholeOf(name, Number(query.get(name) ?? unsaid), versionsPerAppMax)
  const to = number('to', app.version)
  const from = number('from', Math.max(1, to - 1))
  const [before, after] = await Promise.all(
    [from, to].map((version) => getHtml(signedIn.ctx, agent, app.id, version)),
  )
  if (!before || !after) throw new Error('a version without its page')
  const found = await comparePages(before, after)
  const main = html`${compareForm(studio, from, to)}
    <section class="changes">
      <h2>From version ${from} to ${to}</h2>
      ${found === undefined ? tooDifferent : renderDiff(found)}
    </section>`
  return studioPage(studio, 'versions', main)
}

const tooDifferent = html`<p>
  They have too little in common to be compared line by line. Preview both to see what changed.
</p>`

function renderDiff({ hunks: places, added, removed, left }: Diff): Part {
  if (places.length === 0) return html`<p>Their pages are the same.</p>`
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
      <thead class="unseen">
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
                ><span class="unseen">${changeLabels[sign]}</span>
              </td>
              <td><code>${text}</code></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
