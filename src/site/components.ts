import type { Tile } from '../apps/explore/schemas.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { msg, t, type Text } from '../kernel/words/message.ts'
import { formatCount, formatTenths } from './format.ts'
import type { Page } from './layout.ts'
import { renderQuay } from './quay.ts'

/** Labels of a version's `via`. */
export const versionOrigins = {
  html: msg('published'),
  files: msg('published'),
  build: msg('built'),
  remix: msg('remixed'),
  restore: msg('restored'),
}

/** Typed keys of a constant record. */
export const keysOf = <Key extends string>(table: Record<Key, unknown>): Key[] =>
  Object.keys(table).filter((key): key is Key => Object.hasOwn(table, key))

export const queryOf = ({ url }: Request): URLSearchParams => new URL(url).searchParams

/** Appends the query parameters that have a value. */
export function withQuery(path: string, params: Record<string, string | undefined>): string {
  let query = ''
  for (const [name, value] of Object.entries(params)) {
    if (value) query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`
  }
  return path + query
}

/** The search term of a query, cut to `max` characters without splitting a surrogate pair. */
export const searchTerm = (query: URLSearchParams, max: number, name = 'q'): string | undefined =>
  query.get(name)?.slice(0, max).toWellFormed().trim() || undefined

/** A star rating with a text alternative; nothing without ratings. */
export function starRating({ stars: mean, count }: Tile['rating']): Part {
  if (mean === null) return false
  const shown = formatTenths(mean)
  return html`<span
    class="stars"
    role="img"
    aria-label="${shown} of 5 stars, ${formatCount(count, 'rating')}"
    >&#9733; ${shown}</span
  >`
}

/** Links to the pages above this one, from the outermost. */
export const trail = (...pages: readonly (readonly [path: string, title: Part])[]): Html =>
  html`<p class="trail">
    ${pages.map(([path, title]) => html`<a href="${path}"><bdi>${title}</bdi></a>`)}
  </p>`

/** A number among the facts of something; nothing for none. */
export const countFact = (count: number, noun: string, several?: string): Part =>
  count > 0 && html`<span>${formatCount(count, noun, several)}</span>`

export const playIcon = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <path d="M6.5 4v12l9.5-6z" />
</svg>`

/** On buttons that close or remove. */
export const crossIcon = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <path d="M5 5l10 10M15 5L5 15" />
</svg>`

export const openLabel = ({ kind }: Pick<Tile, 'kind'>): string =>
  kind === 'game' ? t('Play') : t('Open')

/** A code block; its script adds the Copy button. */
export const copyLine = (line: Part, label: Text): Html =>
  html`<copy-line data-label="${label}">
    <pre tabindex="0" aria-label="${label}"><code>${line}</code></pre>
  </copy-line>`

/** Code in several languages. The tabs are radio buttons, which need no script. */
export const codeTabs = <Name extends string>(
  languages: Readonly<Record<Name, string>>,
  codeIn: (name: Name) => string,
  labelOf: (language: string) => Text,
): Html =>
  html`<div class="code-tabs">
    <fieldset class="segments">
      <legend class="visually-hidden">Language</legend>
      ${keysOf(languages).map(
        (name, at) =>
          html`<label
            ><input
              type="radio"
              name="language"
              value="${name}"
              ${at === 0 && html` checked`}
            />${languages[name]}</label
          >`,
      )}
    </fieldset>
    ${keysOf(languages).map(
      (name) =>
        html`<div data-language="${name}">
          ${copyLine(codeIn(name), labelOf(languages[name]))}
        </div>`,
    )}
  </div>`

interface Choice {
  value: string
  label: Text
  content: Part
}

/** Shows one of several contents. The choice is of radio buttons, which need no script. */
export const segments = (
  legend: Text,
  name: string,
  choices: readonly Choice[],
  chosen: string | undefined,
): Html =>
  html`<fieldset class="segments">
      <legend class="visually-hidden">${legend}</legend>
      ${choices.map(
        ({ value, label }) =>
          html`<label
            ><input
              type="radio"
              name="${name}"
              value="${value}"
              ${value === chosen && html` checked`}
            />${label}</label
          >`,
      )}
    </fieldset>
    ${choices.map(({ content }) => html`<div>${content}</div>`)}`

/** Secrets that are shown once; the script adds buttons that copy, download and print them. */
export const saveSecret = (secrets: Part, file: string): Html =>
  html`<save-secret data-file="${file}">${secrets}</save-secret>`

/** Labeled values of one subject. */
export const statList = (stats: readonly (readonly [name: Text, value: Part])[]): Html =>
  html`<dl class="stats">
    ${stats.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`

/** A section of a page with its heading. */
export const section = (title: Text, content: Part): Html =>
  html`<section>
    <h2>${title}</h2>
    ${content}
  </section>`

/** A narrow page, such as a form. */
export const narrowPage = (title: Text, content: Part, options: Partial<Page> = {}): Page => ({
  title,
  main: html`<div class="narrow">
    <h1>${title}</h1>
    ${content}
  </div>`,
  ...options,
})

/** A page with one message; the page of an error shows its status. */
export const messagePage = (
  title: Text,
  text: Text,
  actions: Part = false,
  status?: number,
): Page => {
  const message = html`<div class="message">
    ${status !== undefined && html`<p class="small">${status}</p>`}
    <h1>${title}</h1>
    <p class="lead">${text}</p>
    ${actions !== false && html`<div class="actions">${actions}</div>`}
  </div>`
  return status === undefined
    ? { title, main: message }
    : { title, main: renderQuay(message), scripts: ['live-quay.js'], status }
}
