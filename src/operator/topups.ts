import type { AppContext } from '../context.ts'
import { formatCsv } from '../core/csv.ts'
import { formatDecimal, nano, type NanoUsd, toUsd } from '../core/money.ts'
import { day, iso, utcDay } from '../core/time.ts'
import { recordAudit } from '../hosting/audit/audit.ts'
import { csvRowsMax } from '../limits.ts'
import { creditByHand, listCredited, prepareHandCredit } from '../payments/coins/by-hand.ts'
import { coinOf, formatUnits, networksOf } from '../payments/coins/method.ts'
import type { StoredPayment } from '../payments/coins/status.ts'
import type { CommandResult } from './command-result.ts'
import { failed, succeeded } from './command-result.ts'

const incomeDays = 30
/** Pages of payments in a sum: a million payments. */
const incomePagesMax = 100

/** Incoming payments of a coin on a UTC day. */
export interface Income {
  day: string
  asset: string
  count: number
  units: bigint
  value: NanoUsd
}

/** Returns what came in by day and coin on the last 30 UTC days, newest first. */
export async function incomeByDay(ctx: AppContext): Promise<Income[]> {
  const now = ctx.clock.now()
  const range = { from: now - (now % day) - (incomeDays - 1) * day, to: now + 1 }
  const sums = new Map<string, Income>()
  for (let page = 0; page < incomePagesMax; page += 1) {
    const limits = { limit: csvRowsMax, offset: page * csvRowsMax }
    const rows = await listCredited(ctx, { ...range, ...limits })
    for (const { payment } of rows) addTo(sums, payment)
    if (rows.length < csvRowsMax) break
  }
  return [...sums.values()]
}

function addTo(sums: Map<string, Income>, payment: StoredPayment): void {
  const { asset, amount, value } = payment
  const date = utcDay(payment.credited ?? 0)
  const key = `${date} ${asset}`
  const sum = sums.get(key) ?? { day: date, asset, count: 0, units: 0n, value: nano(0n) }
  sum.count += 1
  sum.units += BigInt(amount)
  sum.value = nano(sum.value + (value ?? 0n))
  sums.set(key, sum)
}

const columns = [
  'time',
  'network',
  'tx',
  'output',
  'asset',
  'amount',
  'usd',
  'account',
  'invoice',
  'address',
] as const

/** Returns the newest credited payments as CSV, newest first. */
export async function incomeCsv(ctx: AppContext): Promise<string> {
  const rows = await listCredited(ctx, { from: 0, to: ctx.clock.now() + 1, limit: csvRowsMax })
  return formatCsv(
    columns,
    rows.map(({ payment, account }) => ({
      time: iso(payment.credited ?? 0),
      network: payment.network,
      tx: payment.tx,
      output: payment.output,
      asset: payment.asset,
      // As text: a number would lose digits.
      amount: formatUnits(BigInt(payment.amount), coinOf(payment.asset)?.decimals ?? 0),
      usd: formatDecimal(toUsd(payment.value ?? 0n)),
      account,
      invoice: payment.invoice,
      address: payment.address,
    })),
  )
}

/** Credits an unmatched payment, and records it in the audit log. Throws as `prepareHandCredit`. */
export async function creditUnmatched(
  ctx: AppContext,
  request: { payment: string; invoice: string },
  by: string,
): Promise<boolean> {
  const found = await prepareHandCredit(ctx, request)
  return ctx.db.tx(async (db) => {
    if (!(await creditByHand(ctx, db, found, by))) return false
    const { payment, invoice, value } = found
    const why = `${formatDecimal(toUsd(value))} USD, ${payment.asset} ${payment.tx}`
    await recordAudit(ctx, db, {
      by,
      did: 'credit-payment',
      item: invoice.id,
      why: why.slice(0, 500),
    })
    return true
  })
}

/** A server or a source of rates, with its problem; undefined for one that works. */
interface Checked {
  name: string
  problem: string | undefined
}

/** Asks every server of the chains and every source of rates. */
async function checkTopups(ctx: AppContext): Promise<Checked[]> {
  const networks = networksOf(ctx.config)
  const has = (kind: string) => networks.some((network) => network.startsWith(kind))
  const { coins } = ctx
  const results = await Promise.all([
    has('eip155:') ? coins.evm().check() : [],
    has('bitcoin:') ? coins.bitcoin().check() : [],
    has('solana:') ? coins.solana().check() : [],
    networks.length > 0 ? coins.rates().check() : [],
    ctx.x402?.check() ?? [],
  ])
  return results.flat()
}

/** `berth payments check`: says what is wrong before the first person pays. */
export async function paymentsCommand(ctx: AppContext, words: string[]): Promise<CommandResult> {
  if (words.join(' ') !== 'check') return failed('usage: berth payments check')
  const networks = [
    ...networksOf(ctx.config),
    ...(ctx.x402 ? [`${ctx.x402.network.id} (x402)`] : []),
  ]
  if (networks.length === 0) {
    return failed(
      'No payments are on. Set X402_PAY_TO, TOPUP_EVM_XPUB, TOPUP_BTC_XPUB or TOPUP_SOL_RECIPIENT.',
    )
  }
  const checked = await checkTopups(ctx)
  const lines = checked.map(({ name, problem }) => `${name}: ${problem ?? 'ok'}`)
  const text = [`Networks: ${networks.join(', ')}`, ...lines].join('\n')
  return checked.every(({ problem }) => problem === undefined) ? succeeded(text) : failed(text)
}
