import type { App } from '../../apps/apps.ts'
import { reportReasons } from '../../apps/moderation/reasons.ts'
import type { Report } from '../../apps/moderation/reports.ts'
import { stateOf } from '../../apps/present.ts'
import type { SettingName } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { accountOf, type Owner } from '../../money/ledger/accounts.ts'
import { findByHandle, findHandles } from '../../people/agents/agents.ts'
import { findByName, namesOf, namesOfWallets, walletOf } from '../../people/people.ts'
import { section, trail, withQuery } from '../../site/components.ts'
import {
  formatBytes,
  formatCount,
  renderDate,
  renderDateTime,
  renderWireCredits,
} from '../../site/format.ts'
import { alert } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable, searchField, sideNav } from '../../site/lists.ts'
import { wireWord } from '../../site/wire-words.ts'
import { creditsOf } from '../operator/grants.ts'
import type { Collected, ServerState } from '../operator/servers.ts'
import { settingName } from './setting-names.ts'
import { formatUnit } from './time-chart.ts'

/** The pages of the console by subject. */
const consoleGroups = [
  {
    title: msg('Monitor'),
    links: {
      '/console': msg('Overview'),
      '/console/requests': msg('Requests'),
      '/console/latency': msg('Latency'),
      '/console/errors': msg('Errors'),
      '/console/alerts': msg('Alerts'),
    },
  },
  {
    title: msg('Moderate'),
    links: {
      '/console/queue': msg('Moderation'),
      '/console/agents': msg('Agents'),
      '/console/people': msg('People'),
      '/console/groups': msg('Groups'),
      '/console/clients': msg('Clients'),
    },
  },
  {
    title: msg('Money'),
    links: {
      '/console/spend': msg('Spending'),
      '/console/keys': msg('Keys'),
      '/console/grants': msg('Grants'),
      '/console/payments': msg('Payments'),
    },
  },
  {
    title: msg('Models'),
    links: {
      '/console/providers': msg('Providers'),
      '/console/upstreams': msg('Upstreams'),
      '/console/models': msg('Models'),
      '/console/libraries': msg('Libraries'),
    },
  },
  {
    title: msg('System'),
    links: {
      '/console/settings': msg('Settings'),
      '/console/backups': msg('Backups'),
      '/console/audit': msg('Audit log'),
    },
  },
] as const

type LinksOf<Group> = Group extends { links: infer Links } ? keyof Links : never
export type ConsolePath = LinksOf<(typeof consoleGroups)[number]>

interface ConsolePage {
  place: ConsolePath
  title: Text
  /** The pages above this one, from the outermost. */
  above?: readonly (readonly [path: string, title: Text])[]
  lead?: Part
  /** The main action of a list, beside the title. */
  action?: Part
  /** The error of the submitted form. */
  message?: string | undefined
  main: Html
  scripts?: Page['scripts']
}

/** Renders a page of the console with its navigation. */
export const consolePage = (page: ConsolePage): Page => ({
  title: t('{title} · Console', { title: page.title }),
  main: html`<div class="console with-side-nav">
    ${sideNav(t('Console'), consoleGroups, page.place)}
    <div class="console-body">
      ${page.above !== undefined && trail(...page.above)}
      <div class="console-title">
        <h1><bdi>${page.title}</bdi></h1>
        ${page.action}
      </div>
      ${page.lead !== undefined && html`<p class="lead">${page.lead}</p>`} ${alert(page.message)}
      ${page.main}
    </div>
  </div>`,
  section: '/',
  styles: ['console.css'],
  isWide: true,
  scripts: page.scripts ?? [],
})

/** Classes that badges share with the verdicts of the safety check. */
const badgeClasses = { plain: 'warn', warn: 'unlist', bad: 'block' }

/**
 * A short state: a translated text, or a word of the wire. A good state is plain text, so that the
 * others stand out.
 */
export function badge(text: Text, style: keyof typeof badgeClasses | 'good' = 'plain'): Html {
  const word = typeof text === 'string' ? wireWord(text) : text
  return style === 'good'
    ? html`<span class="small">${word}</span>`
    : html`<span class="badge ${badgeClasses[style]}">${word}</span>`
}

/** Links the page of a setting by its name for people. */
export const settingLink = (name: SettingName): Html =>
  html`<a href="/console/settings/${name}">${settingName(name)}</a>`

export type Fact = readonly [name: Text, value: Part]

/** The state of what a page is about, and then what that means. */
export const statusLine = (state: Part, meaning: Part, style: 'good' | 'warn' | 'bad' = 'good') =>
  html`<p class="status-line ${style}"><strong>${state}</strong> <span>${meaning}</span></p>`

/** The facts of one subject, a line each. */
export const factLines = (facts: readonly Fact[]): Html =>
  html`<dl class="fact-lines">
    ${facts.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`

export const searchCharsMax = 100

export const searchForm = (action: string, label: Text, value: string | undefined): Html =>
  html`<form class="search" role="search" action="${action}">
    ${searchField(label, value, searchCharsMax)}
    ${value !== undefined && html`<a class="small" href="${action}">Clear the search</a>`}
  </form>`

export function stateBadge(app: App): Html {
  const state = app.quarantinedAt !== null ? 'quarantined' : stateOf(app)
  const label = state === 'taken_down' ? t('taken down') : state
  return badge(label, state === 'live' ? 'good' : state === 'building' ? 'plain' : 'bad')
}

/** The suspension of an agent or a person among its facts; nothing without one. */
export const suspensionFact = ({
  suspended,
  suspendedFor,
}: {
  suspended: number | null
  suspendedFor: string | null
}): Fact[] =>
  suspended === null
    ? []
    : [[t('Suspended'), html`${renderDateTime(suspended)}: <bdi>${suspendedFor}</bdi>`]]

/** Leads to the form that grants credits to an account. */
export const grantLink = (to: string): Html =>
  html`<a class="button quiet" href="${withQuery('/console/grants', { to })}">Grant credits</a>`

/** Renders the balance of an owner in credits. */
export const getCredits = async (ctx: AppContext, owner: Owner): Promise<Html> =>
  renderWireCredits(await creditsOf(ctx, { owner }))

/** Renders the open reports about an app or a person. */
export const openReports = (reports: Report[]): Part =>
  reports.length > 0 &&
  section(
    t('Open reports'),
    html`<ul class="rows">
      ${reports.map(
        ({ at, reason, text, contact }) =>
          html`<li>
            <strong>${reportReasons[reason]}</strong>
            <span class="small">${renderDateTime(at)}</span>
            ${text !== '' && html`<p><bdi>${text}</bdi></p>`}
            ${contact !== null && html`<p class="small">Contact: <bdi>${contact}</bdi></p>`}
          </li>`,
      )}
    </ul>`,
  )

export const appTable = (apps: App[]): Part =>
  dataTable(
    t('Apps'),
    [{ long: t('App') }, { text: t('State'), onPhone: 'figure' }, t('Explore'), t('Created')],
    apps.map((app) => [
      html`<a href="/console/apps/${app.id}"><bdi>${app.title}</bdi></a>`,
      stateBadge(app),
      app.listed,
      renderDate(app.created),
    ]),
    t('No apps yet.'),
  )

/** Returns the names of accounts of agents and people ("agent:…"): "@handle" or a person's name. */
export async function accountNames(ctx: AppContext, ids: string[]): Promise<Map<string, string>> {
  const idsOf = (kind: string) =>
    ids.flatMap((id) => (id.startsWith(`${kind}:`) ? id.slice(kind.length + 1) : []))
  const [handles, people, wallets] = await Promise.all([
    findHandles(ctx, idsOf('agent')),
    namesOf(ctx, idsOf('person')),
    namesOfWallets(ctx, idsOf('gateway')),
  ])
  return new Map([
    // Unknown agents have an empty handle.
    ...[...handles].flatMap(([id, handle]) =>
      handle === '' ? [] : [[`agent:${id}`, `@${handle}`] as const],
    ),
    ...[...people].map(([id, name]) => [`person:${id}`, name] as const),
    ...[...wallets].map(([id, name]) => [`gateway:${id}`, name] as const),
  ])
}

/** Returns links for accounts of agents and people, which are stored by id. */
export async function accountLinks(ctx: AppContext, ids: string[]): Promise<Map<string, Html>> {
  const names = await accountNames(ctx, ids)
  return new Map([...names].map(([id, name]) => [id, ownerLink(name)]))
}

/** Links the page of an agent or a person. */
export const ownerLink = (name: string): Html =>
  name.startsWith('@')
    ? html`<a href="/console/agents/${name.slice(1)}"><bdi>${name}</bdi></a>`
    : html`<a href="/console/people/${encodeURIComponent(name)}"><bdi>${name}</bdi></a>`

/** Returns the accounts of an @handle, the name of a person or an account itself. */
export async function findAccounts(ctx: AppContext, text: string): Promise<string[]> {
  if (text.startsWith('@')) {
    const agent = await findByHandle(ctx, text.slice(1))
    return agent ? [`agent:${agent.id}`] : []
  }
  const person = await findByName(ctx, text)
  return person ? [`person:${person.id}`, accountOf(walletOf(person))] : [text]
}

/** Returns whether several servers share the database. */
export const hasSeveral = ({ reports, silent }: Collected<unknown>): boolean =>
  reports.length + silent > 1

export const serverCode = (server: string): Html => html`<code>${server}</code>`

/** Says how many servers did not respond, because a page lacks their part. */
export const silentNote = ({ reports, silent }: { reports: unknown[]; silent: number }): Part =>
  silent > 0 &&
  html`<p class="notice">
    ${silent} of ${formatCount(reports.length + silent, 'server')} did not respond within a second.
    This page lacks what only ${silent === 1 ? t('that server remembers') : t('they remember')}.
  </p>`

/** Lists the servers that share the database; nothing where there is one. */
export function serverSection(states: Collected<ServerState>): Part {
  const heads = [
    t('Server'),
    t('Version'),
    t('Up since'),
    { number: t('Memory') },
    { number: t('Free disk space') },
    { number: t('Event-loop lag') },
  ]
  const row = (
    { server, value }: Collected<ServerState>['reports'][number],
    at: number,
  ): Part[] => [
    html`${serverCode(server)} ${at === 0 && badge(t('this server'), 'good')}
    ${value.isLeader && badge(t('periodic work'))}`,
    value.version,
    renderDateTime(value.startedAt),
    formatBytes(value.memory),
    formatBytes(value.free),
    formatUnit(value.lateMs, 'ms'),
  ]
  const title = t('Servers ({length})', { length: states.reports.length + states.silent })
  const table = dataTable(t('Servers'), heads, states.reports.map(row))
  return hasSeveral(states) && section(title, table)
}
