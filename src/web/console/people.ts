import { makeCursor, pageOf, readCursor } from '../../core/cursor.ts'
import { html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import { ApiError } from '../../errors.ts'
import { countOf } from '../../hosting/agents/owners.ts'
import { listPeople } from '../../hosting/people/listing.ts'
import { type Person, walletOf } from '../../hosting/people/people.ts'
import { type PersonCase, personCaseOf } from '../../operator/cases.ts'
import type { Decision } from '../../operator/decisions.ts'
import type { Page } from '../layout.ts'
import { cursorPager, empty } from '../lists.ts'
import { addressOf, dayOf, momentOf, numbers, queryOf, wordsIn } from '../parts.ts'
import { goTo, type Own } from '../people/desk.ts'
import type { Form } from '../people/form.ts'
import { table } from '../table.ts'
import { badge, consolePage, searchForm, wordsMax } from './frame.ts'
import { decide } from './operator.ts'
import { creditsOf, decisionForm, decisions, type Offer } from './parts.ts'

const rowsShown = 30

/** What may be decided about a person. */
const personDecisions: Decision[] = ['suspend', 'unsuspend']

const placeOf = ({ name }: Person): string => `/console/people/${encodeURIComponent(name)}`

const stateBadges = ({ operator, password, suspended }: Person): Part => [
  operator && badge('operator', 'good'),
  suspended !== null && badge('suspended', 'bad'),
  password === null && badge('no password'),
]

/** Everybody with an account, by name, or those whose name has the words of the query in it. */
export async function peoplePage({ ctx, request }: Own): Promise<Page> {
  const query = queryOf(request)
  const q = wordsIn(query, wordsMax)
  const [after] = readCursor(query.get('cursor') ?? undefined, /^(\S{1,120})$/) ?? []
  const found = await listPeople(ctx, rowsShown + 1, { q, after })
  const { page, next } = pageOf(found, rowsShown, ({ name }) => makeCursor(name))
  const owned = await Promise.all(
    page.map(async (person) => ({
      wallet: await creditsOf(ctx, walletOf(person)),
      agents: await countOf(ctx, person.id),
    })),
  )
  const row = (person: Person, at: number): Part[] => [
    html`<a href="${placeOf(person)}"><bdi>${person.name}</bdi></a>`,
    stateBadges(person),
    owned[at]?.agents,
    owned[at]?.wallet,
    dayOf(iso(person.created)),
    html`<a
      href="${addressOf('/console/grants', { to: person.name })}"
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
  const none = empty('Nobody', html`No name has “<bdi>${q}</bdi>” in it.`)
  const main = html`${searchForm('/console/people', 'Search by name', q)}
  ${page.length > 0 ? table('People', heads, page.map(row)) : none}
  ${cursorPager(query, '/console/people', next, { q })}`
  return consolePage({ place: '/console/people', title: 'People', main })
}

/** A person and what was decided about them. Refuses not_found. */
export async function personPage(
  own: Own,
  name: string,
  said?: string,
  sent?: Form,
): Promise<Page> {
  const { person, decided } = await theCase(own, name)
  const { ctx } = own
  const [wallet, agents] = await Promise.all([
    creditsOf(ctx, walletOf(person)),
    countOf(ctx, person.id),
  ])
  const offer: Offer = person.suspended === null ? ['suspend', 'Suspend'] : ['unsuspend', 'Let in']
  const asked = {
    action: placeOf(person),
    hint: 'A suspension needs one: the person is told. Their agents go on.',
    why: sent?.text('why'),
  }
  const main = html`<p class="lead">${stateBadges(person)} Since ${dayOf(iso(person.created))}</p>
    ${
      person.suspended !== null &&
      html`<p>
        Suspended since ${momentOf(iso(person.suspended))}: <bdi>${person.suspendedFor}</bdi>
      </p>`
    }
    ${numbers([
      ['Wallet, credits', wallet],
      ['Agents', agents],
    ])}
    <p class="acts">
      <a class="button quiet" href="${addressOf('/console/grants', { to: person.name })}"
        >Give credits</a
      >
    </p>
    ${
      !person.operator &&
      html`<section>
        <h2>Decide</h2>
        ${decisionForm(own.token, asked, [offer])}
      </section>`
    }
    ${decisions(decided)}`
  return consolePage({ place: '/console/people', title: person.name, said, main })
}

async function theCase({ ctx }: Own, name: string): Promise<PersonCase> {
  const known = await personCaseOf(ctx, name)
  if (!known) throw new ApiError('not_found', { what: 'person' })
  return known
}

/** Decides about a person. Refuses not_found, bad_request. */
export async function decidePerson(own: Own, name: string, form: Form): Promise<Response> {
  const { person } = await theCase(own, name)
  const said = { name: form.text('decision'), item: person.name, why: form.text('why') }
  await decide(own, personDecisions, said)
  return goTo(placeOf(person))
}
