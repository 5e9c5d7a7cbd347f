import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { formatCsv } from '../../../kernel/csv.ts'
import { fromCredits } from '../../../kernel/money.ts'
import { grantTo } from '../../../money/ledger/ledger.ts'
import { findByHandle } from '../../../people/agents/agents.ts'
import { expectError } from '../../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../../testing/fixtures/closed-servers.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../../testing/fixtures/test-server.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent
let boat = ''
let kite = ''

const day = 86_400_000

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
  boat = await ann.publish({ title: 'Boat', store: true, remix: 'price', priceRemix: 33 })
  kite = await ann.publish({
    title: '=HYPERLINK("x"),"',
    store: true,
    remix: 'price',
    priceRemix: 7,
  })
})
afterEach(() => closeWithoutErrors(t))

const buy = (person: TestAgent, id: string) => person.call('POST', `/apps/${id}/remix`)
const earned = async (query = '', person = ann): Promise<unknown> =>
  (await person.call('GET', `/me/earnings${query}`)).body

/** Sells two boats on the first day, a kite and a boat on the second. */
async function sell(): Promise<void> {
  await buy(ben, boat)
  await buy(ben, boat)
  t.clock.advance(day)
  await buy(ben, kite)
  await buy(ben, boat)
}

const none = { sales: 0, gross: 0, fee: 0, net: 0 }
const ofBoat = { item: '', title: 'Boat', sales: 3, gross: 99, fee: 19.8, net: 79.2 }
const ofKite = { item: '', title: '=HYPERLINK("x"),"', sales: 1, gross: 7, fee: 1.4, net: 5.6 }

describe('GET /me/earnings', () => {
  test('returns the earnings in total and by item, exact to one NanoUsd', async () => {
    expect(await earned()).toEqual({ totals: none, byItem: [], next: null })
    await sell()
    const totals = { sales: 4, gross: 106, fee: 21.2, net: 84.8 }
    const byItem = [
      { ...ofBoat, item: boat },
      { ...ofKite, item: kite },
    ]
    expect(await earned()).toEqual({ totals, byItem, next: null })
    expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 484.8 })
    expect(await earned('', ben)).toEqual({ totals: none, byItem: [], next: null })
  })

  test('counts only sales: no grants, own remixes or free remixes', async () => {
    const free = await ann.publish({ store: true })
    await buy(ben, free)
    await buy(ann, boat)
    const owner = {
      kind: 'agent',
      owner: (await findByHandle(t.ctx, 'ann'))?.id ?? '',
    } as const
    const grant = { amount: fromCredits(5), kind: 'grant', ref: 'g', item: boat }
    await grantTo(t.ctx, owner, grant)
    expect(await earned()).toEqual({ totals: none, byItem: [], next: null })
  })

  test('filters by period and item', async () => {
    await sell()
    const first = { sales: 2, gross: 66, fee: 13.2, net: 52.8 }
    expect(await earned('?to=2026-05-04')).toMatchObject({ totals: first })
    expect(await earned('?from=2026-05-05&to=2026-05-05')).toMatchObject({
      totals: { sales: 2, gross: 40 },
    })
    expect(await earned('?from=2026-05-04T12:00:01Z')).toMatchObject({ totals: { sales: 2 } })
    expect(await earned('?to=2026-05-04T12:00:00Z')).toMatchObject({ totals: none })
    expect(await earned(`?item=${kite}&from=2026-05-01`)).toMatchObject({
      totals: { net: 5.6 },
      byItem: [{ item: kite }],
    })
    expect(await earned(`?item=${'A'.repeat(12)}`)).toMatchObject({ totals: none, byItem: [] })
  })

  test('continues after a cursor', async () => {
    await sell()
    const first = await ann.call('GET', '/me/earnings?limit=1')
    expect(first.body).toMatchObject({ byItem: [{ item: boat }], totals: { sales: 4 } })
    const rest = await earned(`?limit=1&cursor=${first.text('next')}`)
    expect(rest).toMatchObject({ byItem: [{ item: kite }], totals: { sales: 4 }, next: null })
  })

  test('rejects an invalid period, item or cursor', async () => {
    const forged = Buffer.from(`net 1) or (1=1 ${boat}`).toString('base64url')
    const days = [
      'from=yesterday',
      'to=2026-13-01',
      'from=2026-02-30',
      'from=2026-05-04T99:00:00Z',
      'to=',
      'from=1',
    ]
    for (const query of [...days, 'item=x', 'limit=0', 'cursor=x', `cursor=${forged}`]) {
      await expectError(t, 400, 'bad_request', () => ann.call('GET', `/me/earnings?${query}`))
    }
    await expectError(t, 400, 'bad_request', () => ann.call('GET', '/me/earnings.csv?to=x'))
  })
})

test('earnings and ledger as CSV without spreadsheet formulas', async () => {
  await sell()
  const response = await ann.call('GET', '/me/earnings.csv?from=2026-05-05')
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="earnings.csv"')
  expect(response.body).toBe(
    'item,title,sales,gross,fee,net\r\n' +
      `${boat},Boat,1,33,6.6,26.4\r\n` +
      `${kite},"'=HYPERLINK(""x""),""",1,7,1.4,5.6\r\n`,
  )
  const ledger = String((await ben.call('GET', '/me/ledger.csv')).body).split('\r\n')
  expect(ledger).toHaveLength(7)
  expect(ledger[0]).toBe('id,at,kind,credits,balance,ref,item')
  expect(ledger[1]).toMatch(
    new RegExp(`^5,2026-05-05T12:00:00.000Z,remix,-33,294,remix:.{12},${boat}$`),
  )
  expect(formatCsv(['a'], [{ a: '@x' }, { a: null }, { a: -1 }])).toBe("a\r\n'@x\r\n\r\n-1\r\n")
})
