import { expect, test } from 'bun:test'

import { csvRowsMax } from '../../kernel/limits.ts'
import { nano } from '../../kernel/money.ts'
import { day, utcDay } from '../../kernel/time.ts'
import type { StoredPayment } from '../../money/payments/coins/status.ts'
import { coinPayments } from '../../money/payments/coins/tables.ts'
import type { PaymentRow } from '../../money/payments/x402/rows.ts'
import { payments } from '../../money/payments/x402/tables.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { incomeByDay, incomeCsv, readMoneyToday } from './topups.ts'

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

test('the income has the USDC of agents, without the shares of makers', async () => {
  const { ctx, clock, close } = await startTestServer()
  const now = clock.now()
  const payment = (nonce: string, more: Partial<PaymentRow>): PaymentRow => ({
    network: 'eip155:8453',
    payer: '0xa',
    nonce,
    account: 'agent:ann',
    run: null,
    amount: nano(50_001_000n),
    state: 'final',
    signed: {
      signature: '0x',
      authorization: {
        from: '0xa',
        to: '0xb',
        value: '1',
        validAfter: '0',
        validBefore: '1',
        nonce,
      },
    },
    wallet: null,
    walletNonce: null,
    raw: null,
    hash: `0x${nonce}`,
    fromBlock: 1,
    block: 2,
    reason: null,
    created: now,
    credited: now,
    ...more,
  })
  const yesterday = now - day
  const rows = [
    payment('1', {}),
    payment('2', {}),
    payment('3', { run: 'a-run' }),
    payment('4', { state: 'sent', credited: null }),
    payment('5', { created: yesterday, credited: yesterday }),
    payment('6', { created: now - 30 * day, credited: now - 30 * day }),
  ]
  await ctx.db.tx((db) => db.insert(payments).values(rows))
  const usdc = { asset: 'USDC', decimals: 6 }
  expect(await incomeByDay(ctx)).toEqual([
    { ...usdc, day: utcDay(now), count: 2, units: 100_002n, value: nano(100_002_000n) },
    { ...usdc, day: utcDay(yesterday), count: 1, units: 50_001n, value: nano(50_001_000n) },
  ])
  expect((await readMoneyToday(ctx)).paidIn).toBe(nano(100_002_000n))
  const lines = (await incomeCsv(ctx)).trim().split('\r\n')
  expect(lines.map((line) => line.split(',').slice(2, 8).join())).toEqual([
    'tx,output,asset,amount,usd,account',
    ...['2', '1', '5', '6'].map((nonce) => `0x${nonce},,USDC,0.050001,0.050001,agent:ann`),
  ])
  await close()
})
