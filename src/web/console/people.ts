import { makeCursor, pageOf, readCursor } from '../../core/cursor.ts'
import { html, type Part } from '../../core/markup.ts'
import { ApiError } from '../../errors.ts'
import { countOwnedAgents } from '../../hosting/agents/listing.ts'
import { listPeople } from '../../hosting/people/listing.ts'
import { type Person, walletOf } from '../../hosting/people/people.ts'
import { type PersonCase, personCaseOf } from '../../operator/cases.ts'
import type { Decision } from '../../operator/decisions.ts'
import { queryOf, searchTerm, statList, withQuery } from '../components.ts'
import { dataTable } from '../data-table.ts'
import { renderDate, renderDateTime } from '../format.ts'
import type { SubmittedForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { cursorPager, emptyState } from '../lists.ts'
import { redirectTo, type UserRequest } from '../session.ts'
import { applyDecision } from './access.ts'
import { decisionForm, decisionHistory, type DecisionOption, getCredits } from './components.ts'
import { badge, consolePage, searchCharsMax, searchForm } from './layout.ts'

const rowsShown = 30

/** What may be decided about a person. */
const personDecisions: Decision[] = ['suspend', 'unsuspend']

const personPath = ({ name }: Person): string => `/console/people/${encodeURIComponent(name)}`

const stateBadges = ({ operator, password, suspended }: Person): Part => [
  operator && badge('operator', 'good'),
  suspended !== null && badge('suspended', 'bad'),
  password === null && badge('no password'),
]

/** Everybody with an account, by name, or those whose name has the words of the query in it. */
export async function peoplePage({ ctx, request }: UserRequest): Promise<Page> {
  const query = queryOf(request)
  const q = searchTerm(query, searchCharsMax)
  const [after] = readCursor(query.get('cursor') ?? undefined, /^(\S{1,120})$/) ?? []
  const found = await listPeople(ctx, rowsShown + 1, { q, after })
  const { page, next } = pageOf(found, rowsShown, ({ name }) => makeCursor(name))
  const owned = await Promise.all(
    page.map(async (person) => ({
      wallet: await getCredits(ctx, walletOf(person)),
      agents: await countOwnedAgents(ctx, person.id),
    })),
  )
  const row = (person: Person, at: number): Part[] => [
    html`<a href="${personPath(person)}"><bdi>${person.name}</bdi></a>`,
    stateBadges(person),
    owned[at]?.agents,
    owned[at]?.wallet,
    renderDate(person.created),
    html`<a
      href="${withQuery('/console/grants', { to: person.name })}"
      aria-label="Give credits to ${person.name}"
      >Give credits</a
    >`,
  ]
  const heads = [
    { long: 'Name' },
    'State',
    { number: 'Agents' },
    { number: 'Wallet, credits' },
    'Since',
    { unseen: 'Credits' },
  ]
  const none = emptyState('Nobody', html`No name has “<bdi>${q}</bdi>” in it.`)
  const main = html`${searchForm('/console/people', 'Search by name', q)}
  ${page.length > 0 ? dataTable('People', heads, page.map(row)) : none}
  ${cursorPager(query, '/console/people', next, { q })}`
  return consolePage({ place: '/console/people', title: 'People', main })
}

/** A person and what was decided about them. Refuses not_found. */
export async function personPage(
  req: UserRequest,
  name: string,
  message?: string,
  submitted?: SubmittedForm,
): Promise<Page> {
  const { person, decided } = await getPersonCase(req, name)
  const { ctx } = req
  const [wallet, agents] = await Promise.all([
    getCredits(ctx, walletOf(person)),
    countOwnedAgents(ctx, person.id),
  ])
  const offer: DecisionOption =
    person.suspended === null ? ['suspend', 'Suspend'] : ['unsuspend', 'Let in']
  const asked = {
    action: personPath(person),
    hint: 'A suspension needs one: the person is told. Their agents go on.',
    why: submitted?.text('why'),
  }
  const main = html`<p class="lead">${stateBadges(person)} Since ${renderDate(person.created)}</p>
    ${
      person.suspended !== null &&
      html`<p>
        Suspended since ${renderDateTime(person.suspended)}: <bdi>${person.suspendedFor}</bdi>
      </p>`
    }
    ${statList([
      ['Wallet, credits', wallet],
      ['Agents', agents],
    ])}
    <p class="actions">
      <a class="button quiet" href="${withQuery('/console/grants', { to: person.name })}"
        >Give credits</a
      >
    </p>
    ${
      !person.operator &&
      html`<section>
        <h2>Decide</h2>
        ${decisionForm(req.token, asked, [offer])}
      </section>`
    }
    ${decisionHistory(decided)}`
  return consolePage({ place: '/console/people', title: person.name, message, main })
}

async function getPersonCase({ ctx }: UserRequest, name: string): Promise<PersonCase> {
  const known = await personCaseOf(ctx, name)
  if (!known) throw new ApiError('not_found', { what: 'person' })
  return known
}

/** Decides about a person. Refuses not_found, bad_request. */
export async function decidePerson(
  req: UserRequest,
  name: string,
  form: SubmittedForm,
): Promise<Response> {
  const { person } = await getPersonCase(req, name)
  const message = { name: form.text('decision'), item: person.name, why: form.text('why') }
  await applyDecision(req, personDecisions, message)
  return redirectTo(personPath(person))
}
