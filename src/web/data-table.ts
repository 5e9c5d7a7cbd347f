import { type Html, html, type Part } from '../core/html.ts'

/**
 * A column's label, with the style of its cells: `number` aligns right, `long` wraps, `capitalized`
 * capitalizes a wire value. The label of `unseen` is for screen readers only.
 */
export type Column =
  string | { number: string } | { long: string } | { capitalized: string } | { unseen: string }

const labelAndStyle = (column: Column): [label: string, style: string] => {
  if (typeof column === 'string') return [column, '']
  const [[style = '', label = ''] = []] = Object.entries(column)
  return [label, style]
}

const styleClass = (style: string): Part => style !== '' && html`class="${style}"`

/** Tables with more columns than this become cards on a phone. */
const plainColumnsMax = 4

/**
 * A table that scrolls by itself where it is too wide. On a phone, the rows of a table with many
 * columns, long text or actions become cards, with each label above its cell.
 */
export function dataTable(label: string, columns: Column[], rows: Part[][]): Html {
  const heads = columns.map(labelAndStyle)
  const hasCards =
    columns.length > plainColumnsMax ||
    heads.some(([, style]) => style === 'long' || style === 'unseen')
  const head = ([text, style]: [string, string]): Html =>
    style === 'unseen'
      ? html`<th><span class="visually-hidden">${text}</span></th>`
      : html`<th scope="col" ${styleClass(style)}>${text}</th>`
  const cell = (part: Part, at: number): Html => {
    const [text = '', style = ''] = heads[at] ?? []
    return style === 'unseen'
      ? html`<td class="end">${part}</td>`
      : html`<td data-label="${text}" ${styleClass(style)}>${part}</td>`
  }
  return html`<div class="table-scroll" role="region" aria-label="${label}" tabindex="0">
    <table class="${hasCards && 'stacked'}">
      <thead>
        <tr>
          ${heads.map(head)}
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
