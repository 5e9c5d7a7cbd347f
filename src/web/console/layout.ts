import { type Html, html, type Part } from '../../core/markup.ts'
import { alert } from '../forms.ts'
import type { Page } from '../layout.ts'
import { chip } from '../lists.ts'

/** The pages of the console, by their paths. */
const consoleLinks = [
  ['/console', 'Overview'],
  ['/console/queue', 'Moderation'],
  ['/console/agents', 'Agents'],
  ['/console/people', 'People'],
  ['/console/grants', 'Grants'],
  ['/console/upstreams', 'Upstreams'],
  ['/console/models', 'Models'],
  ['/console/backups', 'Backups'],
  ['/console/audit', 'Audit log'],
  ['/console/settings', 'Settings'],
] as const

export type ConsolePath = (typeof consoleLinks)[number][0]

/** What a page of the console is made of. */
interface ConsolePage {
  place: ConsolePath
  title: string
  /** A sentence below the title. */
  lead?: Part
  /** What went wrong with a form. */
  message?: string | undefined
  main: Html
  scripts?: Page['scripts']
}

/** A page of the console, with the way to all others above it. */
export function consolePage({
  place,
  title,
  lead,
  message,
  main,
  scripts = [],
}: ConsolePage): Page {
  const whole = html`<nav class="places" aria-label="Console">
      <ul class="chips">
        ${consoleLinks.map(([path, name]) => chip(path, name, path === place, 'page'))}
      </ul>
    </nav>
    <h1><bdi>${title}</bdi></h1>
    ${lead !== undefined && html`<p class="lead">${lead}</p>`} ${alert(message)} ${main}`
  return { title: `${title} · Console`, main: whole, scripts }
}

/** How a word is set off, by the classes that the safety check's words have. */
const badgeClasses = { good: '', plain: 'warn', bad: 'block' }

/** A state in one word; `bad` ones stand out. */
export const badge = (word: string, look: keyof typeof badgeClasses = 'plain'): Html =>
  html`<span class="badge ${badgeClasses[look]}">${word}</span>`

/** What is searched for has at most so many characters. */
export const searchCharsMax = 100

/** The form that searches a list. */
export const searchForm = (action: string, label: string, q: string | undefined): Html =>
  html`<form class="search" role="search" action="${action}">
    <label class="words"
      ><span class="unseen">${label}</span
      ><input
        type="search"
        name="q"
        value="${q}"
        maxlength="${searchCharsMax}"
        placeholder="${label}"
        autocomplete="off" /></label
    ><button class="button">Search</button>
  </form>`
