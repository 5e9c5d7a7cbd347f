import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, parseCursor, takePage } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { list as listKeys } from '../../money/keys/keys.ts'
import { countOwnedAgents, listOwnedAgents } from '../../people/agents/agents.ts'
import { listPeople, type Person, walletOf } from '../../people/people.ts'
import { findProfile, type Profile } from '../../people/profiles/profiles.ts'
import { searchTerm, section } from '../../site/components.ts'
import { formatCompact, renderDate, renderDateTime } from '../../site/format.ts'
import type { Form } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import {
  type Column,
  createdCursor,
  cursorPager,
  dataTable,
  emptyState,
  usual,
} from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { findPersonCase } from '../operator/cases.ts'
import { decideAbout, decidedNotice } from './access.ts'
import { agentTable } from './agents.ts'
import { decisionHistory } from './audit.ts'
import {
  badge,
  consolePage,
  type Fact,
  factLines,
  getCredits,
  grantLink,
  openReports,
  searchCharsMax,
  searchForm,
  suspensionFact,
} from './components.ts'
import { decisionList, type DecisionOption, failedDecision } from './decisions.ts'
import { accountKeysPath } from './keys.ts'

const rowsShown = 30

const personPath = ({ name }: Pick<Person, 'name'>): string =>
  `/console/people/${encodeURIComponent(name)}`

const stateBadges = ({ operator, password, suspended }: Person): Part => [
  operator && badge(t('operator'), 'good'),
  suspended !== null && badge('suspended', 'bad'),
  password === null && badge(t('no password')),
]

const isUsual = ({ operator, password, suspended }: Person): boolean =>
  !operator && password !== null && suspended === null

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
    isUsual(person) ? usual(t('active')) : stateBadges(person),
    owned[at]?.agents === 0 ? usual('0') : owned[at]?.agents,
    owned[at]?.wallet,
    renderDate(person.created),
  ]
  const heads: Column[] = [
    { long: t('Name') },
    { text: t('State'), onPhone: 'plain' },
    { number: t('Agents') },
    { number: t('Credits'), onPhone: 'figure' },
    t('Joined'),
  ]
  const none = emptyState(t('No people found'), html`No name contains “<bdi>${q}</bdi>”.`)
  const main = html`${searchForm('/console/people', t('Search by name'), q)}
  ${dataTable(t('People'), heads, page.map(row), none)}
  ${cursorPager(query, '/console/people', next, { q })}`
  return consolePage({ place: '/console/people', title: t('People'), main })
}

/** Renders a person with their facts, agents, history and decisions. Throws `not_found`. */
export async function personPage(
  req: UserRequest,
  name: string,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { person, reports, decisions } = await getPersonCase(req, name)
  const { ctx } = req
  const profile = await findProfile(ctx.db.read, person.id)
  const action = personPath(person)
  const failed = failedDecision(submitted, message)
  const options = person.operator ? [] : decisionOptions(person, profile, reports.length)
  const isShown = options.some((option) => option.name === failed?.name)
  const after = createdCursor(req.query)
  const found = await listOwnedAgents(ctx, person.id, rowsShown + 1, after)
  const { page, next } = takePage(found, rowsShown, (one) => makeCursor(one.created, one.id))
  const main = html`${decidedNotice(req, action)}
  ${factLines(await personFacts(ctx, person, profile))} ${openReports(reports)}
  ${section(t('Agents'), html`${await agentTable(ctx, page, html`<p class="small">No agents yet.</p>`)}${cursorPager(req.query, action, next)}`)}
  ${decisionHistory(decisions)}
  ${options.length > 0 && section(t('Actions'), decisionList(req.token, { action, failed }, options))}`
  return consolePage({
    place: '/console/people',
    title: person.name,
    above: [['/console/people', t('People')]],
    action: grantLink(person.name),
    message: isShown ? undefined : message,
    main,
  })
}

async function personFacts(
  ctx: AppContext,
  person: Person,
  profile: Profile | undefined,
): Promise<Fact[]> {
  const wallet = walletOf(person)
  const keys = await listKeys(ctx.db.read, wallet.owner)
  return [
    [t('State'), isUsual(person) ? t('active') : stateBadges(person)],
    ...suspensionFact(person),
    ...(profile ? [[t('Public page'), pageState(profile)] as const] : []),
    [
      t('Wallet'),
      html`${await getCredits(ctx, wallet)} <span class="small">${t('credits')}</span>`,
    ],
    [
      t('API keys'),
      html`<a href="${accountKeysPath(person.name)}">${formatCompact(keys.length)}</a>`,
    ],
    [t('Joined'), renderDate(person.created)],
  ]
}

function decisionOptions(
  person: Person,
  profile: Profile | undefined,
  reports: number,
): DecisionOption[] {
  const options: DecisionOption[] = []
  const reason = t('The person receives it.')
  if (reports > 0) {
    options.push({
      name: 'dismiss-page',
      label: t('Dismiss reports'),
      effect: t('Closed reports cannot be reopened.'),
      reason: t('It is kept in the audit log.'),
    })
  }
  if (profile && profile.hidden === null) {
    options.push({
      name: 'hide-page',
      label: t('Hide page'),
      effect: t('Their public page is not found any more. Their apps stay public.'),
      reason,
      isRequired: true,
      isDestructive: true,
    })
  } else if (profile) {
    options.push({
      name: 'show-page',
      label: t('Show page'),
      effect: t('Their public page can be found again.'),
    })
  }
  options.push(
    person.suspended === null
      ? {
          name: 'suspend',
          label: t('Suspend'),
          effect: t(
            'They cannot sign in, and their own keys stop working. Their agents keep running.',
          ),
          reason,
          isRequired: true,
          isDestructive: true,
        }
      : {
          name: 'unsuspend',
          label: t('Unsuspend'),
          effect: t('They can sign in, and their own keys work again.'),
        },
  )
  return options
}

function pageState({ handle, isPublic, hidden, hiddenFor }: Profile): Html {
  if (hidden !== null) {
    return html`<bdi>@${handle}</bdi>, hidden since ${renderDateTime(hidden)}:
      <bdi>${hiddenFor}</bdi>`
  }
  return isPublic
    ? html`<a href="/@${handle}"><bdi>@${handle}</bdi></a>`
    : html`<bdi>@${handle}</bdi>, private`
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
