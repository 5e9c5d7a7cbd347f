import { html, type Part } from '../../core/markup.ts'
import { sentence } from '../../core/text.ts'
import * as apps from '../../hosting/apps/apps.ts'
import type { OwnedApp } from '../../hosting/people/owned-apps.ts'
import { agentBreadcrumb } from '../agents/agents.ts'
import { alert, notice, type SubmittedForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { tabNav } from '../lists.ts'
import type { SignedInRequest } from '../session.ts'

/** One visit of an owner to an app. `said` is why `sent` was refused, `note` what it did. */
export interface Studio extends OwnedApp {
  signedIn: SignedInRequest
  message?: string | undefined
  submitted?: SubmittedForm | undefined
  note?: string | undefined
}

const tabs = {
  '': 'Statistics',
  versions: 'Versions',
  assets: 'Assets',
  listing: 'Listing',
  safety: 'Safety',
} as const

export type Tab = keyof typeof tabs

export const isTab = (name: string): name is Tab => Object.hasOwn(tabs, name)

/** The path of a page of a studio, or of what a form asks there. */
export const studioPath = ({ app }: OwnedApp, name: string): string =>
  name === '' ? `/studio/${app.id}` : `/studio/${app.id}/${name}`

/** Where an app stands, in one sentence. */
function statusText({ app }: OwnedApp): string {
  const { version, listed } = app
  if (version === 0) return 'Its first build is running.'
  const shown = apps.visibleVersion(app)
  if (app.heldAt !== null) return `Held back: its link shows a warning.`
  if (listed === 'off') return `Version ${version}, not on Explore.`
  return shown === version
    ? `Version ${version}, on Explore.`
    : `Version ${shown} is on Explore and shown; version ${version} is kept.`
}

/** A page of a studio: the app, its tabs, and what one of them holds. */
export function studioPage(studio: Studio, tab: Tab, main: Part): Page {
  const { app, agent, message, note } = studio
  const { id, title, heldAt, heldFor, listed } = app
  const pages = Object.entries(tabs).map(
    ([name, label]) => [studioPath(studio, name), label] as const,
  )
  return {
    title: `${title}: ${tabs[tab]}`,
    main: html`${agentBreadcrumb(agent)}
      <h1><bdi>${title}</bdi></h1>
      <p class="lead">${statusText(studio)}</p>
      ${heldAt !== null && html`<p class="alert">Held back: <bdi>${sentence(heldFor ?? '')}</bdi> <a href="${studioPath(studio, 'safety')}">Appeal</a></p>`}
      <p class="acts near">
        <a class="button" href="/a/${id}">Open it</a
        >${listed === 'on' && html`<a class="button quiet" href="/explore/${id}">Its page on Explore</a>`}
      </p>
      ${tabNav('Studio', pages, studioPath(studio, tab))} ${alert(message)}${notice(note)}${main}`,
  }
}
