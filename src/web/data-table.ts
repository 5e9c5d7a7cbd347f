import { type Html, html, type Part } from '../core/markup.ts'

/**
 * What stands above a column and tells how its cells are set: words as they come, numbers to the
 * right, texts that may take several lines, a kind of the wire as a word, or what one does, whose
 * name is for those alone who cannot see it.
 */
export type Column =
  string | { number: string } | { long: string } | { kind: string } | { unseen: string }

const nameAndStyle = (head: Column): [name: string, look: string] => {
  if (typeof head === 'string') return [head, '']
  const [[look = '', name = ''] = []] = Object.entries(head)
  return [name, look]
}

const headCell = (head: Column): Html => {
  const [name, look] = nameAndStyle(head)
  return look === 'unseen'
    ? html`<th><span class="unseen">${name}</span></th>`
    : html`<th scope="col" ${look !== '' && html`class="${look}"`}>${name}</th>`
}

const plainColumnsMax = 4

/**
 * Rows of cells as a table. Where it is too wide it scrolls by itself; on a phone the rows of one
 * that has much to say stand as cards, each cell below its name.
 */
export function dataTable(label: string, heads: Column[], rows: Part[][]): Html {
  const columns = heads.map(nameAndStyle)
  const isMuch = columns.some(([, look]) => look === 'long' || look === 'unseen')
  const cell = (part: Part, at: number): Html => {
    const [name = '', look = ''] = columns[at] ?? []
    return look === 'unseen'
      ? html`<td class="end">${part}</td>`
      : html`<td data-label="${name}" ${look !== '' && html`class="${look}"`}>${part}</td>`
  }
  return html`<div class="wide" role="region" aria-label="${label}" tabindex="0">
    <table class="${(isMuch || heads.length > plainColumnsMax) && 'stacked'}">
      <thead>
        <tr>
          ${heads.map(headCell)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map(cell)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
}
