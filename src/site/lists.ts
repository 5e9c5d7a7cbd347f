import type { Tile } from '../apps/explore/schemas.ts'
import type { AppContext } from '../kernel/context.ts'
import { parseCursor } from '../kernel/cursor.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { Message, t, type Text } from '../kernel/words/message.ts'
import type { Entry } from '../money/ledger/reports.ts'
import { searchIcon } from './art.ts'
import { section, withQuery } from './components.ts'
import { exactDecimals, renderDateTime, renderExactCredits } from './format.ts'
import { tileGrid, tilesPerPage } from './tiles.ts'
import { wireWord } from './wire-words.ts'

/** Reads the cursor of a list ordered by creation time and ID. Throws `bad_request`. */
export function createdCursor(query: URLSearchParams, name = 'cursor') {
  const form = /^(\d{1,15}) ([A-Za-z0-9_-]{12})$/
  const [created, id = ''] = parseCursor(query.get(name) ?? undefined, form) ?? []
  return created === undefined ? undefined : { created: Number(created), id }
}

/** Reads the cursor of a list of numbered rows. Throws `bad_request`. */
export function numberCursor(query: URLSearchParams): number | undefined {
  const [number] = parseCursor(query.get('cursor') ?? undefined, /^(\d{1,15})$/) ?? []
  return number === undefined ? undefined : Number(number)
}

/** Returns the requested page of a list that is in memory. */
export function paginate<Row>(query: URLSearchParams, all: Row[], rowsMax: number) {
  const pages = Math.max(1, Math.ceil(all.length / rowsMax))
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.get('page'))) || 1))
  const rows = all.slice((page - 1) * rowsMax, page * rowsMax)
  return { rows, page, isLast: page === pages }
}

type QueryParams = Record<string, string | undefined>

/** Links to the first and the next page of a list. */
export const pager = (
  first: string,
  next: string | undefined,
  isFirst: boolean,
  label = t('Pages'),
): Part =>
  (next !== undefined || !isFirst) &&
  html`<nav class="pager" aria-label="${label}">
    ${!isFirst && html`<a class="button quiet" href="${first}">First page</a>`}${next !== undefined && html`<a class="button quiet" rel="next" href="${next}">Show more</a>`}
  </nav>`

export function cursorPager(
  query: URLSearchParams,
  path: string,
  next: string | null,
  params: QueryParams = {},
): Part {
  const more = next === null ? undefined : withQuery(path, { ...params, cursor: next })
  return pager(withQuery(path, params), more, !query.get('cursor'))
}

/** A longer list continues on a page of its own. */
const tilesShownMax = 240

/** Returns how many tiles a list shows. Each "Show more" adds a page of them. */
export function tilesShown(query: URLSearchParams): number {
  const pages = Math.ceil(Number(query.get('shown')) / tilesPerPage) || 1
  return Math.min(tilesShownMax, Math.max(1, pages) * tilesPerPage)
}

interface TileList {
  query: URLSearchParams
  path: string
  params?: QueryParams
  items: readonly Tile[]
  next: string | null
  /** All are of one maker, whose name stands above. */
  isOfMaker?: boolean
  /** Renders what stands below a tile. */
  control?: (item: Tile) => Part
}

/**
 * Tiles with a "Show more" link, which opens the longer list at its first new tile. With scripts,
 * `<show-more>` appends the new tiles.
 */
export function tileList(
  ctx: AppContext,
  { query, path, params, items, next, isOfMaker = false, control }: TileList,
): Html {
  const cursor = query.get('cursor') ?? undefined
  const count = items.length
  const more =
    count < tilesShownMax
      ? `${withQuery(path, { ...params, cursor, shown: `${count + tilesPerPage}` })}#tile-${count + 1}`
      : withQuery(path, { ...params, cursor: next ?? undefined })
  return html`<show-more
    >${tileGrid(ctx, items, { isOfMaker, ...(control && { control }) })}
    ${pager(withQuery(path, params ?? {}), next === null ? undefined : more, !cursor)}</show-more
  >`
}

export function numberPager(
  path: string,
  { page, isLast }: { page: number; isLast: boolean },
  params: QueryParams,
): Part {
  const more = isLast ? undefined : withQuery(path, { ...params, page: `${page + 1}` })
  return pager(withQuery(path, params), more, page === 1)
}

/** The placeholder of an empty list, with an optional next step. */
export const emptyState = (title: Part, text: Part, action: Part = false): Html =>
  html`<div class="empty">
    <h2>${title}</h2>
    <p>${text}</p>
    ${action}
  </div>`

/** Content that follows the server while its page is visible. The page loads auto-refresh.js. */
export const live = (content: Part): Html =>
  html`<auto-refresh data-seconds="2">${content}</auto-refresh>`

export const itemList = (items: Html[], placeholder: Part): Part =>
  items.length > 0
    ? html`<ul class="rows">
        ${items}
      </ul>`
    : placeholder

/** One link of a row of filters or tabs. */
export const chip = (
  address: string,
  label: Part,
  isCurrent: boolean,
  current: 'true' | 'page' = 'true',
): Html =>
  html`<li>
    <a href="${address}" ${isCurrent && html` aria-current="${current}"`}>${label}</a>
  </li>`

/** Navigation between the pages of one subject. */
export const tabNav = (
  label: Text,
  pages: readonly (readonly [path: string, name: Text])[],
  currentPath: string,
  name = 'tabs',
): Html =>
  html`<nav class="${name}" aria-label="${label}">
    <ul class="chips">
      ${pages.map(([path, title]) => chip(path, title, path === currentPath, 'page'))}
    </ul>
  </nav>`

/** Links by their paths. */
export interface NavGroup {
  title: Text
  links: Record<string, Text>
}

/** Groups of links beside the pages that they open; on a phone a menu, which needs no script. */
export const sideNav = (label: Text, groups: readonly NavGroup[], currentPath?: string): Html =>
  html`<nav class="side-nav" aria-label="${label}">
    <button type="button" class="button quiet" popovertarget="side-menu">
      <span
        >${label}${groups.map(({ links }) => currentPath !== undefined && Object.hasOwn(links, currentPath) && html`: <strong>${links[currentPath]}</strong>`)}</span
      >
    </button>
    <div id="side-menu" popover>
      ${groups.map(
        ({ title, links }) =>
          html`<div>
            <p>${title}</p>
            <ul aria-label="${title}">
              ${Object.entries(links).map(([path, name]) => chip(path, name, path === currentPath, 'page'))}
            </ul>
          </div>`,
      )}
    </div>
  </nav>`

/** A search box with its button inside. */
export const searchField = (label: Text, value: string | undefined, maxLength: number): Html =>
  html`<div class="search-field">
    <label
      ><span class="visually-hidden">${label}</span
      ><input
        type="search"
        name="q"
        value="${value}"
        maxlength="${maxLength}"
        placeholder="${label}"
        dir="auto"
        autocomplete="off" /></label
    ><button class="icon-button" aria-label="Search">${searchIcon}</button>
  </div>`

/**
 * The place of a cell in the record that a row is on a phone. The `title` and the `figure` at its
 * end are the first line; without one, the first column is the title. A number there has its label
 * behind it, as a unit. A `plain` cell needs no label, and neither does long text. A `total` stands
 * at the end of the second line.
 */
type PhonePlace = 'title' | 'figure' | 'plain' | 'total'

/**
 * A column's label, with the style of its cells: `number` aligns right, `long` wraps, `capitalized`
 * capitalizes a wire value. The labels of `unseen` and `select` are for screen readers only. A
 * `link` sorts by the column.
 */
export type Column =
  | Text
  | ((
      | { number: Text; link?: string; sorted?: 'ascending' | 'descending' }
      | { text: Text }
      | { long: Text }
      | { capitalized: Text }
      | { unseen: Text }
      | { select: Text }
    ) & { onPhone?: PhonePlace })

const labelAndStyle = (
  column: Column,
): [label: Text, style: string, place: PhonePlace | undefined] => {
  if (typeof column === 'string' || column instanceof Message) return [column, '', undefined]
  const [[style = '', label = ''] = []] = Object.entries<Text>(column)
  return [label, style === 'text' ? '' : style, column.onPhone]
}

/** A value that most rows have: quiet in a table, left out on a phone. */
export const usual = (value: Part): { usual: Part } => ({ usual: value })

export type Cell = Part | ReturnType<typeof usual>

function heading(column: Column): Html {
  const [text, style] = labelAndStyle(column)
  if (style === 'unseen' || style === 'select') {
    return html`<th ${styleClass(style)}><span class="visually-hidden">${text}</span></th>`
  }
  const { link, sorted } = typeof column === 'object' && 'number' in column ? column : {}
  const label = link === undefined ? text : html`<a class="sort" href="${link}">${text}</a>`
  return html`<th scope="col" ${styleClass(style)} ${sorted && html` aria-sort="${sorted}"`}>
    ${label}
  </th>`
}

const styleClass = (style: string): Part => style !== '' && html`class="${style}"`

/** Tables with more columns than this become cards on a phone. */
const plainColumnsMax = 4

/**
 * A table that scrolls by itself where it is too wide. On a phone, the rows of a table with many
 * columns, long text or actions become records: a line with the title, the figure and the actions,
 * then the other cells in one quiet text. Without rows, it is `none`.
 */
export function dataTable(label: Text, columns: Column[], rows: Cell[][], none?: Part): Part {
  if (rows.length === 0 && none !== undefined) {
    return typeof none === 'string' ? html`<p class="small">${none}</p>` : none
  }
  const heads = columns.map(labelAndStyle)
  const hasCards =
    columns.length > plainColumnsMax ||
    heads.some(([, style]) => style === 'long' || style === 'unseen')
  const named = heads.findIndex(([, , place]) => place === 'title')
  const titleAt = named < 0 ? heads.findIndex(([, style]) => style !== 'select') : named
  const cell = (value: Cell, at: number): Html => {
    const [text = '', style = '', place] = heads[at] ?? []
    const isUsual = typeof value === 'object' && value !== null && 'usual' in value
    const part = isUsual ? value.usual : value
    if (style === 'select') return html`<td class="select">${part}</td>`
    if (style === 'unseen') return html`<td class="end">${part}</td>`
    const role = at === titleAt ? 'title' : (place ?? 'detail')
    const names = [style, role === 'plain' ? 'detail' : role]
    // Records leave out usual and unknown values.
    if (isUsual || part === '–') names.push('none')
    const name = names.filter(Boolean).join(' ')
    const hasUnit = place === 'figure' && style === 'number'
    const hasLabel =
      (role === 'detail' || role === 'total') && place !== 'plain' && style !== 'long'
    const onPhone = html`${hasLabel && html`data-label="${text}"`}${hasUnit && html`data-unit="${text}"`}`
    // An empty cell has no space in it, and no place in a record.
    return html`<td ${onPhone} class="${name}">${part}</td>`
  }
  return html`<div class="table-scroll" role="region" aria-label="${label}" tabindex="0">
    <table class="${hasCards && 'stacked'}">
      <thead>
        <tr>
          ${columns.map(heading)}
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

/** A section that is a table, with one name. */
export const tableSection = (...table: Parameters<typeof dataTable>): Html =>
  section(table[0], dataTable(...table))

/**
 * Ledger entries, newest first, with exact amounts: each balance is the sum of those below it.
 * `items` has the links of items by their ids.
 */
export function ledgerTable(
  entries: Entry[],
  none?: Part,
  items: ReadonlyMap<string, Html> = new Map(),
): Part {
  const decimals = Math.max(0, ...entries.map(({ amount }) => exactDecimals(amount)))
  const balanceDecimals = Math.max(0, ...entries.map(({ balance }) => exactDecimals(balance)))
  return dataTable(
    t('Transactions'),
    [
      { text: t('Time'), onPhone: 'plain' },
      { capitalized: t('Type'), onPhone: 'title' },
      { text: t('Item'), onPhone: 'plain' },
      { number: t('Credits'), onPhone: 'figure' },
      { number: t('Balance'), onPhone: 'total' },
    ],
    entries.map(({ at, kind, item, amount, balance }) => [
      renderDateTime(at),
      wireWord(kind),
      item !== null && (items.get(item) ?? html`<code>${item}</code>`),
      renderExactCredits(amount, decimals, 'exceptZero'),
      renderExactCredits(balance, balanceDecimals),
    ]),
    none,
  )
}
