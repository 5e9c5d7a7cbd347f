import { listNews } from '../apps/explore/follows.ts'
import { listActingAgents } from '../apps/owners/owned-agents.ts'
import { readOwnProfile } from '../apps/profiles/operations.ts'
import type { AppContext } from '../kernel/context.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { nano, type NanoUsd, toCredits } from '../kernel/money.ts'
import { msg, t, type Text } from '../kernel/words/message.ts'
import { agentOwner } from '../money/ledger/accounts.ts'
import * as ledger from '../money/ledger/ledger.ts'
import type { Agent } from '../people/agents/agents.ts'
import { countUnread } from '../people/notifications/notifications.ts'
import { displayName, type Person, walletOf } from '../people/people.ts'
import { lineIcon, renderAvatar, searchIcon } from './art.ts'
import { exactCredits, formatCompact, formatNumber } from './format.ts'
import { imagePath } from './paths.ts'

/** The money of a person. Header, wallet and agents show these numbers and no others. */
export interface Balances {
  /** The wallet and all agents: what the person can spend. */
  total: NanoUsd
  wallet: NanoUsd
  agents: { agent: Agent; available: NanoUsd }[]
}

const agentsMax = 50

/** Reads what a person can spend, as a sum and by its places. */
export async function readBalances(ctx: AppContext, person: Person): Promise<Balances> {
  const owned = (await listActingAgents(ctx, person)).slice(0, agentsMax)
  const [wallet, ...balances] = await Promise.all([
    ledger.balanceOf(ctx, walletOf(person)),
    ...owned.map(({ id }) => ledger.balanceOf(ctx, agentOwner(id))),
  ])
  const agents = owned.map((agent, at) => ({
    agent,
    available: balances[at]?.available ?? nano(0n),
  }))
  const total = agents.reduce((sum, { available }) => sum + available, BigInt(wallet.available))
  return { total: nano(total), wallet: wallet.available, agents }
}

/** The facts about a signed-in person in the header. */
export interface HeaderUser {
  name: string
  /** The flag or the picture of the person. */
  avatar: Html
  /** The path of their page, or of the section of the account that makes it public. */
  page: string
  /** The money that the wallet and all agents can spend. */
  available: bigint
  /** Unread notifications of all agents, and unread news of followed makers. */
  unread: number
  isOperator: boolean
}

export async function readHeaderUser(ctx: AppContext, person: Person): Promise<HeaderUser> {
  const { total, agents } = await readBalances(ctx, person)
  const [unread, news, profile] = await Promise.all([
    Promise.all(agents.map(({ agent }) => countUnread(ctx, agent.id))),
    listNews(ctx, person.id),
    readOwnProfile(ctx, person),
  ])
  const name = displayName(person)
  const { handle, avatar, hidden } = profile
  return {
    name,
    avatar: renderAvatar(handle ?? name, avatar && imagePath(ctx, avatar)),
    page: profile.public && hidden === null ? `/@${handle}` : '/account#profile',
    available: total,
    unread: unread.reduce((sum, count) => sum + count, news.filter((one) => one.isUnread).length),
    isOperator: person.operator,
  }
}

const navLinks = [
  ['/explore', msg('Explore')],
  ['/catalogue', msg('Models')],
  ['/docs', msg('Docs')],
] as const

/** Pages of a signed-in person. */
const personalLinks = [
  ['/agents', msg('Agents')],
  ['/studio', msg('Studio')],
  ['/wallet', msg('Wallet')],
  ['/wallet/playground', msg('Playground')],
  ['/collections', msg('Collections')],
  ['/account', msg('Account')],
] as const

export type Section = '/' | (typeof navLinks)[number][0] | (typeof personalLinks)[number][0]

/** The letter b as a bollard with a loop of rope, as in public/icons/berth.svg. */
const logo = html`<svg viewBox="0 0 32 32" aria-hidden="true">
  <rect width="32" height="32" rx="7" />
  <path d="M7.5 7.5h8M11.5 7.5V25" />
  <circle cx="18" cy="19" r="6" />
</svg>`

const bellIcon = lineIcon(
  'M6 9.5a6 6 0 0 1 12 0c0 5 2 6.5 2 6.5H4s2-1.5 2-6.5M10 19.5a2.2 2.2 0 0 0 4 0',
)
const menuIcon = lineIcon('M4 7h16M4 12h16M4 17h16')

const searchForm = html`<form
  class="top-search"
  role="search"
  aria-label="Apps and games"
  action="/explore"
>
  <label
    ><span class="visually-hidden">Search</span
    ><input
      type="search"
      name="q"
      maxlength="200"
      placeholder="Search apps, games, skills"
      autocomplete="off"
    /><kbd aria-hidden="true">/</kbd></label
  >
</form>`

function bell({ unread }: HeaderUser): Html {
  const label = unread === 0 ? t('Notifications') : t('Notifications, {unread} unread', { unread })
  const count =
    unread > 0 &&
    html`<span class="unread" aria-hidden="true">${unread > 99 ? '99+' : unread}</span>`
  return html`<a class="icon-button" href="/notifications" aria-label="${label}"
    >${bellIcon}${count}</a
  >`
}

/** Returns the path that signs a visitor in and returns to an item. */
const signInPath = (path: string | undefined): string =>
  path?.startsWith('/explore/') ? `/sign-in?next=${encodeURIComponent(path)}` : '/sign-in'

function menu(user: HeaderUser | undefined, { section, path: at }: HeaderPage): Html {
  const link = ([path, name]: readonly [string, Text], kind: Part = false): Html =>
    html`<a href="${path}" ${kind}${path === section && html` aria-current="page"`}>${name}</a>`
  const site = navLinks.map((one) => link(one, html`class="phone"`))
  if (!user) {
    return html`<nav class="site-menu" id="menu" aria-label="Menu" popover>
      ${site}<a class="narrow" href="${signInPath(at)}">Sign in</a>
    </nav>`
  }
  const own = personalLinks.map((one) => link(one))
  return html`<nav class="site-menu" id="menu" aria-label="Menu" popover>
    <a class="who" href="${user.page}">${user.avatar}<bdi>${user.name}</bdi></a>
    ${site}${own}${user.isOperator && link(['/console', t('Console')])}
  </nav>`
}

/** Whole credits, in full up to a million. */
function formatBalance(available: bigint): string {
  const credits = Math.floor(toCredits(available))
  return credits < 1e6 ? formatNumber(credits) : formatCompact(credits)
}

/** The facts about a page in its header. */
interface HeaderPage {
  section?: Section
  hasSearch?: boolean
  /** The page has its own link to make an app. */
  hasNew?: boolean
  /** Its canonical path, to which sign-in returns. */
  path?: string
}

/** The header of every page. Its menu is a popover, which needs no script. */
export function renderHeader(user: HeaderUser | undefined, page: HeaderPage): Html {
  const { section, hasSearch, hasNew, path } = page
  const navLink = ([path, name]: readonly [string, Text]): Html =>
    html`<a href="${path}" ${section === path && html` aria-current="page"`}>${name}</a>`
  const end = user
    ? html`<a
          class="balance"
          href="/wallet"
          title="Your wallet and agents together: ${exactCredits(user.available)}"
          ><span class="visually-hidden">Balance: </span>${formatBalance(user.available)} cr</a
        >${bell(user)}<button class="icon-button" popovertarget="menu">
          ${user.avatar}<span class="visually-hidden">Menu of </span
          ><bdi class="user-name">${user.name}</bdi>
        </button>`
    : html`<a class="button quiet" href="${signInPath(path)}">Sign in</a
        ><button class="icon-button phone" popovertarget="menu" aria-label="Menu">
          ${menuIcon}
        </button>`
  return html`<header class="top">
    <a class="brand" href="/">${logo}Berth</a>
    <nav aria-label="Site">${navLinks.map(navLink)}</nav>
    ${hasSearch ? html`<div class="top-search"></div>` : searchForm}
    <div class="top-end">
      <a class="icon-button phone" href="/explore" aria-label="Search">${searchIcon}</a
      >${!hasNew && html`<a class="button${user && ' quiet'}" href="/new">New</a>`}${end}
    </div>
    ${menu(user, page)}
  </header>`
}
