import { makeCursor, pageOf, readCursor } from '../../core/cursor.ts'
import { html, type Part } from '../../core/markup.ts'
import { toCredits } from '../../core/money.ts'
import { iso } from '../../core/time.ts'
import { countOf } from '../../hosting/agents/owners.ts'
import { listPeople } from '../../hosting/people/listing.ts'
import { type Person, walletOf } from '../../hosting/people/people.ts'
import { accountOf, findBalance } from '../../ledger/accounts.ts'
import type { Page } from '../layout.ts'
import { addressOf, dayOf, pager, wordsIn } from '../parts.ts'
import { inCredits } from '../people/chart.ts'
import type { Own } from '../people/desk.ts'
import { table } from '../table.ts'
import { badge, consolePage, empty, searchForm } from './frame.ts'

const rowsShown = 30
const wordsMax = 100

/** Everybody with an account, by name, or those whose name has the words of the query in it. */
export async function peoplePage({ house, request }: Own): Promise<Page> {
  const query = new URL(request.url).searchParams
  const q = wordsIn(query, wordsMax)
  const cursor = query.get('cursor') ?? undefined
  const [after] = readCursor(cursor, /^(\S{1,120})$/) ?? []
  const found = await listPeople(house, rowsShown + 1, { q, after })
  const { page, next } = pageOf(found, rowsShown, ({ name }) => makeCursor(name))
  const owned = await Promise.all(
    page.map(async (person) => ({
      wallet: await findBalance(house.db.read, accountOf(walletOf(person))),
      agents: await countOf(house, person.id),
    })),
  )
  const row = ({ name, operator, password, created }: Person, at: number): Part[] => [
    html`<bdi>${name}</bdi>`,
    [operator && badge('operator', 'good'), password === null && badge('no password')],
    owned[at]?.agents,
    inCredits(toCredits(owned[at]?.wallet?.balance ?? 0n)),
    dayOf(iso(created)),
    html`<a
      href="${addressOf('/console/grants', { to: name })}"
      aria-label="Give credits to ${name}"
      >Give credits</a
    >`,
  ]
  const heads = [
    { long: 'Name' },
    'Role',
    { number: 'Agents' },
    { number: 'Wallet, credits' },
    'Since',
    { unseen: 'Credits' },
  ]
  const more = next === null ? undefined : addressOf('/console/people', { q, cursor: next })
  const none = empty('Nobody', html`No name has “<bdi>${q}</bdi>” in it.`)
  const main = html`${searchForm('/console/people', 'Search by name', q)}
  ${page.length > 0 ? table('People', heads, page.map(row)) : none}
  ${pager(addressOf('/console/people', { q }), more, cursor === undefined)}`
  return consolePage({ place: '/console/people', title: 'People', main })
}
