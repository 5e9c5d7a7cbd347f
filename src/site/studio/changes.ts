import { compareVersions } from '../../apps/versions/compare.ts'
import { type Diff, type DiffLine, parseDiff } from '../../apps/versions/diff.ts'
import type { FileDiffBody } from '../../apps/versions/schemas.ts'
import { comparePages } from '../../apps/versions/source.ts'
import { getHtml } from '../../apps/versions/versions.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { versionsPerAppMax } from '../../kernel/limits.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { formatBytes, formatCount } from '../format.ts'
import type { Page } from '../layout.ts'
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
  const files = await compareVersions(req.ctx, app, from, to, { withPage: false })
  const main = html`${compareForm(studio, from, to)}
    <section class="changes">
      <h2>Version ${from} to version ${to}</h2>
      ${found === undefined ? tooDifferent : renderDiff(found)}${renderFiles(files)}
    </section>`
  return studioPage(studio, 'versions', main)
}

const tooDifferent = html`<p>
  These versions are too different to compare line by line. Preview both instead.
</p>`

function renderDiff({ hunks: places, added, removed, left }: Diff): Part {
  if (places.length === 0) return html`<p>No changes of the page.</p>`
  return html`<p class="small">
      ${formatCount(added, 'line')} added, ${formatCount(removed, 'line')} removed.
    </p>
    ${places.map(renderHunk)}${left > 0 && html`<p class="small">${formatCount(left, 'more line')} not shown.</p>`}`
}

/** A row of the table: a line of each version, or a line of one. */
interface Row {
  left: DiffLine | undefined
  right: DiffLine | undefined
}

/** Pairs removed with added lines, in the order of each run of changes. */
function pairLines(lines: DiffLine[]): Row[] {
  const rows: Row[] = []
  let [removed, added]: [DiffLine[], DiffLine[]] = [[], []]
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1)
      rows.push({ left: removed[at], right: added[at] })
    ;[removed, added] = [[], []]
  }
  for (const line of lines) {
    if (line.sign === '-') removed.push(line)
    else if (line.sign === '+') added.push(line)
    else {
      flush()
      rows.push({ left: line, right: line })
    }
  }
  flush()
  return rows
}

const renderHunk = (lines: DiffLine[]): Html => {
  const first = lines[0]?.after ?? lines[0]?.before ?? 1
  return html`<div class="source" role="region" aria-label="Changes at line ${first}" tabindex="0">
    <table>
      <colgroup>
        <col />
        <col />
        <col />
        <col />
      </colgroup>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Line before</th>
          <th scope="col">Before</th>
          <th scope="col">Line after</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        ${pairLines(lines).map(renderRow)}
      </tbody>
    </table>
  </div>`
}

const renderRow = ({ left, right }: Row): Html =>
  html`<tr class="${left === right ? 'same' : 'differs'}">
    ${renderSide(left, left?.before, 'removed', t('Removed'))}${renderSide(right, right?.after, 'added', t('Added'))}
  </tr>`

function renderSide(
  line: DiffLine | undefined,
  number: number | undefined,
  change: string,
  label: string,
): Html {
  if (!line)
    return html`<td class="none"></td>
      <td class="none"></td>`
  if (line.sign === ' ')
    return html`<td>${number}</td>
      <td><code>${line.text}</code></td>`
  return html`<td class="${change}">${number}</td>
    <td class="${change}">
      <span class="visually-hidden">${label}</span><code>${line.text}</code>
    </td>`
}

const changeNames = { added: msg('Added'), removed: msg('Removed'), changed: msg('Changed') }

/** Lists the other files of both versions that differ, with their diffs. */
const renderFiles = (files: FileDiffBody[]): Part =>
  files.length > 0 &&
  html`<h3>Files</h3>
    <ul class="changed-files">
      ${files.map(
        ({ path, change, before, after, diff }) =>
          html`<li>
            <b><bdi>${path}</bdi></b>
            <span class="small"
              >${changeNames[change]} · ${formatBytes(before)} → ${formatBytes(after)}</span
            >
            ${
              diff !== null &&
              diff !== '' &&
              html`<details>
                <summary>Show changes</summary>
                ${renderDiff(parseDiff(diff))}
              </details>`
            }
          </li>`,
      )}
    </ul>`
