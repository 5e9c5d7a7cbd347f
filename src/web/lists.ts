import { readCursor } from '../core/cursor.ts'
import { type Html, html, type Part } from '../core/markup.ts'
import { withQuery } from './components.ts'

/** The row after which a list goes on, of those in the order of their making: a query's cursor. */
export function createdCursor(query: URLSearchParams, name = 'cursor') {
  const form = /^(\d{1,15}) ([A-Za-z0-9_-]{12})$/
  const [created, id = ''] = readCursor(query.get(name) ?? undefined, form) ?? []
  return created === undefined ? undefined : { created: Number(created), id }
}

/** The same of rows that are numbered. */
export function numberCursor(query: URLSearchParams): number | undefined {
  const [number] = readCursor(query.get('cursor') ?? undefined, /^(\d{1,15})$/) ?? []
  return number === undefined ? undefined : Number(number)
}

/** The page that a query asks for of a list which is read whole. */
export function paginate<Row>(query: URLSearchParams, all: Row[], rowsMax: number) {
  const pages = Math.max(1, Math.ceil(all.length / rowsMax))
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.get('page'))) || 1))
  const rows = all.slice((page - 1) * rowsMax, page * rowsMax)
  return { rows, page, isLast: page === pages }
}

/** What else the query of a list asks for. */
type QueryParams = Record<string, string | undefined>

/** Where a list goes on. */
export const pager = (
  first: string,
  next: string | undefined,
  isFirst: boolean,
  label = 'Pages',
): Part =>
  (next !== undefined || !isFirst) &&
  html`<nav class="pager" aria-label="${label}">
    ${!isFirst && html`<a class="button quiet" href="${first}">Back to the first</a>`}${next !== undefined && html`<a class="button" rel="next" href="${next}">Show more</a>`}
  </nav>`

/** The same of a list by cursors at a path. */
export function cursorPager(
  query: URLSearchParams,
  path: string,
  next: string | null,
  kept: QueryParams = {},
): Part {
  const more = next === null ? undefined : withQuery(path, { ...kept, cursor: next })
  return pager(withQuery(path, kept), more, !query.get('cursor'))
}

/** The same of a list by numbered pages. */
export function numberPager(
  path: string,
  { page, isLast }: { page: number; isLast: boolean },
  kept: QueryParams,
): Part {
  const more = isLast ? undefined : withQuery(path, { ...kept, page: `${page + 1}` })
  return pager(withQuery(path, kept), more, page === 1)
}

/** What stands where a list is empty, with a way on where there is one. */
export const emptyState = (title: Part, words: Part, way: Part = false): Html =>
  html`<div class="empty">
    <h2>${title}</h2>
    <p>${words}</p>
    ${way}
  </div>`

/** Items below each other, or what stands where there are none. */
export const itemList = (items: Html[], none: Part): Part =>
  items.length > 0
    ? html`<ul class="rows">
        ${items}
      </ul>`
    : none

/** A way to an address beside others of its kind. */
export const chip = (
  address: string,
  label: Part,
  isHere: boolean,
  current: 'true' | 'page' = 'true',
): Html =>
  html`<li>
    <a href="${address}" ${isHere && html` aria-current="${current}"`}>${label}</a>
  </li>`

/** The ways between the pages of one thing, by their paths. */
export const tabNav = (
  label: string,
  pages: readonly (readonly [path: string, name: string])[],
  here: string,
): Html =>
  html`<nav class="tabs" aria-label="${label}">
    <ul class="chips">
      ${pages.map(([path, name]) => chip(path, name, path === here, 'page'))}
    </ul>
  </nav>`
