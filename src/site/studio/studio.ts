import type { TSchema } from '@sinclair/typebox'

import * as apps from '../../apps/apps.ts'
import { isPackKind, type Kind, type PackKind } from '../../apps/kinds.ts'
import type { OwnedApp } from '../../apps/owners/owned-agents.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import type { NamedOperation } from '../../kernel/http/operation.ts'
import { versionNoteCharsMax } from '../../kernel/limits.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import { endWithStop } from '../../kernel/text.ts'
import { msg, t } from '../../kernel/words/message.ts'
import type { Actor } from '../../people/agents/spending.ts'
import { trail } from '../components.ts'
import { performAs } from '../form.ts'
import { alert, type Form, inputField, notice } from '../forms.ts'
import type { Page } from '../layout.ts'
import { tabNav } from '../lists.ts'
import type { UserRequest } from '../session.ts'

/** A request of an app's owner. `message` is the error of `submitted`, `note` its result. */
export interface Studio extends OwnedApp {
  req: UserRequest
  message?: string | undefined
  submitted?: Form | undefined
  note?: string | undefined
}

const tabs = {
  files: msg('Files'),
  build: msg('Build'),
  code: msg('Code'),
  versions: msg('Version history'),
  assets: msg('Assets'),
  listing: msg('Listing'),
  access: msg('Access'),
  safety: msg('Safety'),
  errors: msg('Errors'),
  '': msg('Analytics'),
} as const

export type Tab = keyof typeof tabs

export interface StudioAction {
  /** The page of the form. */
  tab: Tab
  /** Bytes of files and pages beside the fields of the form. */
  fileBytesMax?: number
  /** Fields of steps beside the fields of the form. */
  moreFieldsMax?: number
  /** May return a message for the page. */
  work(studio: Studio, form: Form): Promise<string | void>
}

const appTabs: readonly Tab[] = [
  'build',
  'code',
  'versions',
  'assets',
  'listing',
  'access',
  'safety',
  'errors',
  '',
]
const packTabs: readonly Tab[] = ['files', 'versions', 'listing', 'access', 'safety', '']

/** Returns the tabs for a kind of item. */
export const tabsOf = (kind: Kind): readonly Tab[] => (isPackKind(kind) ? packTabs : appTabs)

export const isTab = (name: string): name is Tab => Object.hasOwn(tabs, name)

/** Returns the path of a page or an action by the app's ID. */
export const tabPath = (id: string, name: string): string =>
  name === '' ? `/studio/${id}` : `/studio/${id}/${name}`

/** Returns the path of a page or an action of an app. */
export const studioPath = ({ app }: OwnedApp, name: string): string => tabPath(app.id, name)

/** The field for the note of the next version. */
export const noteField = (value: string | undefined): Html =>
  inputField({
    label: t('Note (optional)'),
    name: 'note',
    value,
    max: versionNoteCharsMax,
    hint: t('What changed in this version.'),
    isOptional: true,
  })

const audienceNames = {
  link: msg('for anyone with the link'),
  password: msg('with a password'),
  people: msg('for named people'),
  instance: msg('for everyone who is signed in'),
}

function statusText({ app }: OwnedApp): string {
  const { version, listed } = app
  if (version === 0) return t('The first build is running.')
  const shown = apps.visibleVersion(app)
  if (app.quarantinedAt !== null) return t('Quarantined: the link shows a warning.')
  if (app.audience !== 'public')
    return t('Version {version}, {value}.', { version, value: audienceNames[app.audience] })
  if (listed === 'off') return t('Version {version}, not listed.', { version })
  return shown === version
    ? t('Version {version}, listed on Explore.', { version })
    : t('Version {shown} is live and listed on Explore. Version {version} is the latest.', {
        shown,
        version,
      })
}

/** Links to the studio and to the agent of an app. */
export const studioTrail = ({ handle }: Studio['agent']): Html =>
  trail(['/studio', t('Studio')], [`/agents/${handle}`, `@${handle}`])

/** Renders a tab of an app's studio. */
export function studioPage(studio: Studio, tab: Tab, main: Part): Page {
  const { app, agent, message, note } = studio
  const { id, title, version, quarantinedAt, quarantineReason, listed } = app
  const pages = tabsOf(app.kind).map((name) => [studioPath(studio, name), tabs[name]] as const)
  return {
    title: t('{title}: {tab}', { title, tab: tabs[tab] }),
    main: html`${studioTrail(agent)}
      <div class="studio-head">
        <div>
          <h1><bdi>${title}</bdi></h1>
          <p class="small">${statusText(studio)}</p>
        </div>
        <p class="actions">
          ${version > 0 && !isPackKind(app.kind) && html`<a class="button quiet" href="/a/${id}">Open app</a>`}${listed === 'on' && html`<a class="button quiet" href="/explore/${id}">View on Explore</a>`}
        </p>
      </div>
      ${quarantinedAt !== null && html`<p class="alert">Quarantined: <bdi>${endWithStop(quarantineReason ?? '')}</bdi> <a href="${studioPath(studio, 'safety')}">Appeal</a></p>`}
      ${tabNav(t('Studio'), pages, studioPath(studio, tab))} ${alert(message)}${notice(note)}${main}`,
  }
}

/**
 * Performs an operation on the item of a studio as its maker. Returns the value of its success.
 * Throws its errors. `params`: those of its path that are not the ID of the item.
 */
export const act = async (
  { req, agent, app }: Studio,
  operation: NamedOperation<Actor, unknown, Record<number, TSchema>>,
  params: Record<string, string | number> = {},
  body?: unknown,
  ref?: string,
): Promise<Json> =>
  recordOf(await performAs(req, { agent }, operation, { id: app.id, ...params }, body, ref))

/** Returns the operation for the kind of an item: that of apps, or that of a kind of packs. */
export const operationFor = <App, Pack>(
  { app }: Studio,
  ofApp: App,
  ofPack: Record<PackKind, Pack>,
): App | Pack => (isPackKind(app.kind) ? ofPack[app.kind] : ofApp)
