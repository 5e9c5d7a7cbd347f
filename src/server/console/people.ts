import { makeCursor, parseCursor, takePage } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { countOwnedAgents } from '../../people/agents/agents.ts'
import { listPeople, type Person, walletOf } from '../../people/people.ts'
import { findProfile, type Profile } from '../../people/profiles/profiles.ts'
import { searchTerm, section, withQuery } from '../../site/components.ts'
import { renderDate, renderDateTime } from '../../site/format.ts'
import type { Form } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { type Column, cursorPager, dataTable, emptyState, usual } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { findPersonCase } from '../operator/cases.ts'
import { decideAbout, decidedNotice } from './access.ts'
import { decisionHistory } from './audit.ts'
import {
  accountSummary,
  badge,
  consolePage,
  decisionForm,
  type DecisionOption,
  getCredits,
  openReports,
  searchCharsMax,
  searchForm,
} from './components.ts'

const rowsShown = 30

const personPath = ({ name }: Pick<Person, 'name'>): string =>
  `/console/people/${encodeURIComponent(name)}`

const stateBadges = ({ operator, password, suspended }: Person): Part => [
  operator && badge(t('operator'), 'good'),
  suspended !== null && badge('suspended', 'bad'),
  password === null && badge(t('no password')),
]

/** Renders people by name, filtered by name. Throws `bad_request`. */
export async function peoplePage({ ctx, query }: UserRequest): Promise<Page> {
  const q = searchTerm(query, searchCharsMax)
  const [after] = parseCursor(query.get('cursor') ?? undefined, /^(\S{1,120})$/) ?? []
  const found = await listPeople(ctx, rowsShown + 1, { q, after })
  const { page, next } = takePage(found, rowsShown, ({ name }) => makeCursor(name))
  const owned = await Promise.all(
    page.map(async (person) => ({
      wallet: await getCredits(ctx, walletOf(person)),
      agents: await countOwnedAgents(ctx, person.id),
    })),
  )
  const row = (person: Person, at: number) => [
    html`<a href="${personPath(person)}"><bdi>${person.name}</bdi></a>`,
    stateBadges(person),
    owned[at]?.agents === 0 ? usual('0') : owned[at]?.agents,
    owned[at]?.wallet,
    renderDate(person.created),
    html`<a
      href="${withQuery('/console/grants', { to: person.name })}"
      aria-label="Grant credits to ${person.name}"
      >Grant credits</a
    >`,
  ]
  const heads: Column[] = [
    { long: t('Name') },
    { text: t('State'), onPhone: 'plain' },
    { number: t('Agents') },
    { number: t('Wallet (credits)'), onPhone: 'figure' },
    t('Joined'),
    { unseen: t('Grant') },
  ]
  const none = emptyState(t('No people found'), html`No name contains “<bdi>${q}</bdi>”.`)
  const main = html`${searchForm('/console/people', t('Search by name'), q)}
  ${dataTable(t('People'), heads, page.map(row), none)}
  ${cursorPager(query, '/console/people', next, { q })}`
  return consolePage({ place: '/console/people', title: t('People'), main })
}

/** Renders a person with their decisions. Throws `not_found`. */
export async function personPage(
  req: UserRequest,
  name: string,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { person, reports, decisions } = await getPersonCase(req, name)
  const { ctx } = req
  const [wallet, agents] = await Promise.all([
    getCredits(ctx, walletOf(person)),
    countOwnedAgents(ctx, person.id),
  ])
  const profile = await findProfile(ctx.db.read, person.id)
  const options: DecisionOption[] = [
    person.suspended === null ? ['suspend', t('Suspend')] : ['unsuspend', t('Unsuspend')],
  ]
  if (profile) {
    options.push(
      profile.hidden === null ? ['hide-page', t('Hide page')] : ['show-page', t('Show page')],
    )
  }
  if (reports.length > 0) options.push(['dismiss-page', t('Dismiss reports')])
  const decision = {
    action: personPath(person),
    hint: t(
      'Required to suspend a person or to hide their page. The person receives it. Their agents keep running.',
    ),
    why: submitted?.text('why'),
    error: message,
  }
  const stats: [string, Part][] = [
    [t('Wallet (credits)'), wallet],
    [t('Agents'), agents],
  ]
  const main = html`${decidedNotice(req, decision.action)}
    <p class="lead">${stateBadges(person)} Joined ${renderDate(person.created)}</p>
    ${profile && pageLine(profile)} ${openReports(reports)}
    ${accountSummary(person, stats, person.name)}
    ${!person.operator && section(t('Actions'), decisionForm(req.token, decision, options))}
    ${decisionHistory(decisions)}`
  // The form shows the error; the operator has none.
  const pageMessage = person.operator ? message : undefined
  return consolePage({
    place: '/console/people',
    title: person.name,
    message: pageMessage,
    main,
  })
}

function pageLine({ handle, isPublic, hidden, hiddenFor }: Profile): Part {
  if (hidden !== null) {
    return html`<p>
      Page <bdi>@${handle}</bdi>, hidden since ${renderDateTime(hidden)}: <bdi>${hiddenFor}</bdi>
    </p>`
  }
  return isPublic
    ? html`<p>
        Page <a href="/@${handle}"><bdi>@${handle}</bdi></a>
      </p>`
    : html`<p>Handle <bdi>@${handle}</bdi>, private</p>`
}

async function getPersonCase({ ctx }: UserRequest, name: string) {
  const known = await findPersonCase(ctx, name)
  if (!known) throw new ApiError('not_found', { what: 'person' })
  return known
}

export const decidePerson = (name: string) =>
  decideAbout(
    ['suspend', 'unsuspend', 'hide-page', 'show-page', 'dismiss-page'],
    () => name,
    personPath({ name }),
  )
