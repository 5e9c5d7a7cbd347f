import { expect, test } from 'bun:test'

import { nano } from '../core/money.ts'
import { day } from '../core/time.ts'
import { csvRowsMax } from '../limits.ts'
import type { StoredPayment } from '../payments/coins/status.ts'
import { coinPayments } from '../payments/coins/tables.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'
import { incomeByDay, incomeCsv } from './topups.ts'

const rowsAtOnce = 1_000

test('the income has every payment of the last 30 days, also above the rows of a CSV', async () => {
  const { ctx, clock, close } = await startTestServer()
  const now = clock.now()
  const firstDay = now - (now % day) - 29 * day
  const payment = (at: number, credited: number): StoredPayment => ({
    network: 'eip155:1',
    tx: `0x${at}`,
    output: 0,
    id: `payment-${at}`,
    invoice: null,
    address: '0x1',
    asset: 'ETH',
    amount: '1000000000000000001',
    state: 'credited',
    block: at,
    confirmations: 3,
    rate: nano(1n),
    isLate: 0,
    value: nano(3_000_000_000_000n),
    why: null,
    seen: credited,
    credited,
  })
  const ofToday = Array.from({ length: csvRowsMax + 1 }, (_, at) => payment(at, now))
  const edges = [payment(-1, firstDay), payment(-2, firstDay - 1)]
  const rows = [...ofToday, ...edges]
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const part = rows.slice(at, at + rowsAtOnce)
    await ctx.db.tx((db) => db.insert(coinPayments).values(part))
  }
  const count = csvRowsMax + 1
  expect(await incomeByDay(ctx)).toMatchObject([
    {
      asset: 'ETH',
      count,
      // Beyond the whole numbers of a double and of 64 bits.
      units: BigInt(count) * 1_000_000_000_000_000_001n,
      value: BigInt(count) * 3_000_000_000_000n,
    },
    { asset: 'ETH', count: 1, units: 1_000_000_000_000_000_001n },
  ])
  expect((await incomeCsv(ctx)).trim().split('\r\n')).toHaveLength(1 + csvRowsMax)
  await close()
})
