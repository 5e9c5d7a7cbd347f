import { parseCursor } from '../core/cursor.ts'
import { type Html, html, type Part } from '../core/html.ts'
import { withQuery } from './components.ts'

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
  label = 'Pages',
): Part =>
  (next !== undefined || !isFirst) &&
  html`<nav class="pager" aria-label="${label}">
    ${!isFirst && html`<a class="button quiet" href="${first}">First page</a>`}${next !== undefined && html`<a class="button" rel="next" href="${next}">Show more</a>`}
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
  label: string,
  pages: readonly (readonly [path: string, name: string])[],
  currentPath: string,
  name = 'tabs',
): Html =>
  html`<nav class="${name}" aria-label="${label}">
    <ul class="chips">
      ${pages.map(([path, title]) => chip(path, title, path === currentPath, 'page'))}
    </ul>
  </nav>`

interface SearchField {
  label: string
  value: string | undefined
  maxLength: number
}

/** A search box and its button. */
export const searchField = ({ label, value, maxLength }: SearchField): Html =>
  html`<label class="search-field"
      ><span class="visually-hidden">${label}</span
      ><input
        type="search"
        name="q"
        value="${value}"
        maxlength="${maxLength}"
        placeholder="${label}"
        dir="auto"
        autocomplete="off" /></label
    ><button class="button">Search</button>`
