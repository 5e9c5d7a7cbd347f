import type { AppContext } from '../../kernel/context.ts'
import { formatCsv } from '../../kernel/csv.ts'
import { csvRowsMax } from '../../kernel/limits.ts'
import { formatDecimal, nano, type NanoUsd, toUsd, zero } from '../../kernel/money.ts'
import { messageOf } from '../../kernel/text.ts'
import { day, iso, utcDay } from '../../kernel/time.ts'
import { listDailyIncome } from '../../money/ledger/reports.ts'
import { findTokenProblem } from '../../money/payments/coins/evm-watcher.ts'
import { coinOf, formatUnits, networksOf } from '../../money/payments/coins/method.ts'
import {
  creditByHand,
  listCredited,
  prepareHandCredit,
} from '../../money/payments/coins/payments.ts'
import type { StoredPayment } from '../../money/payments/coins/status.ts'
import { toUnits } from '../../money/payments/x402/headers.ts'
import {
  type DailyCredits,
  listCreditPayments,
  listDailyCredits,
  type PaymentRow,
} from '../../money/payments/x402/rows.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'

const incomeDays = 30
/** The asset of payments by x402, on any chain. */
const usdc = 'USDC'
const usdcDecimals = 6
/** Pages of payments in a sum: a million payments. */
const incomePagesMax = 100

/** Incoming payments of a coin on a UTC day: top-ups, and USDC of agents by x402. */
export interface Income {
  day: string
  asset: string
  count: number
  units: bigint
  decimals: number
  value: NanoUsd
}

/** Returns what came in by day and coin on the last UTC days, newest first. */
export async function incomeByDay(ctx: AppContext, days = incomeDays): Promise<Income[]> {
  const now = ctx.clock.now()
  const range = { from: now - (now % day) - (days - 1) * day, to: now + 1 }
  const sums = new Map<string, Income>()
  for (let page = 0; page < incomePagesMax; page += 1) {
    const limits = { limit: csvRowsMax, offset: page * csvRowsMax }
    const rows = await listCredited(ctx, { ...range, ...limits })
    for (const { payment } of rows) addTo(sums, payment)
    if (rows.length < csvRowsMax) break
  }
  const agents = (await listDailyCredits(ctx.db.read, range.from)).map(incomeOfAgents)
  return [...sums.values(), ...agents].toSorted((a, b) => b.day.localeCompare(a.day))
}

const incomeOfAgents = ({ at, count, amount }: DailyCredits): Income => ({
  day: utcDay(at),
  asset: usdc,
  count,
  units: toUnits(amount),
  decimals: usdcDecimals,
  value: amount,
})

function addTo(sums: Map<string, Income>, payment: StoredPayment): void {
  const { asset, amount, value } = payment
  const date = utcDay(payment.credited ?? 0)
  const key = `${date} ${asset}`
  const sum = sums.get(key) ?? {
    day: date,
    asset,
    count: 0,
    units: 0n,
    decimals: coinOf(asset)?.decimals ?? 0,
    value: nano(0n),
  }
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

type IncomeRow = Record<(typeof columns)[number], string | number | null>

/** Returns the newest credited payments as CSV, newest first. */
export async function incomeCsv(ctx: AppContext): Promise<string> {
  const [coins, agents] = await Promise.all([
    listCredited(ctx, { from: 0, to: ctx.clock.now() + 1, limit: csvRowsMax }),
    listCreditPayments(ctx.db.read, csvRowsMax),
  ])
  const rows = [...coins.map(coinRow), ...agents.map(agentRow)]
  // Times of ISO 8601 sort as text.
  rows.sort((a, b) => String(b.time).localeCompare(String(a.time)))
  return formatCsv(columns, rows.slice(0, csvRowsMax))
}

type CreditedPayment = Awaited<ReturnType<typeof listCredited>>[number]

const coinRow = ({ payment, account }: CreditedPayment): IncomeRow => ({
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
})

const agentRow = (payment: PaymentRow): IncomeRow => ({
  time: iso(payment.credited ?? 0),
  network: payment.network,
  tx: payment.hash,
  output: null,
  asset: usdc,
  amount: formatUnits(toUnits(payment.amount), usdcDecimals),
  usd: formatDecimal(toUsd(payment.amount)),
  account: payment.account,
  invoice: null,
  address: payment.signed.authorization.to,
})

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
  const { coins } = ctx
  const chains = coins.chains()
  const token = ctx.config.topupUsdtToken === '' ? [] : [checkToken(ctx)]
  const results = await Promise.all([
    ...token,
    ...chains.map((chain) => chain.check()),
    chains.length > 0 ? coins.rates().check() : [],
    ctx.x402?.check() ?? [],
  ])
  return results.flat()
}

async function checkToken(ctx: AppContext): Promise<Checked[]> {
  const problem = await findTokenProblem(ctx).catch(messageOf)
  return [{ name: 'TOPUP_USDT_TOKEN', problem }]
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
  const servers = checked.map(({ name, problem = null }) => ({ name, problem }))
  const ok = servers.every(({ problem }) => problem === null)
  const data = { ok, networks, servers }
  return ok ? succeeded(text, data) : failed(text, data)
}

/** Returns what people and agents paid in on this UTC day, and what they were charged. */
export async function readMoneyToday(ctx: AppContext) {
  const [income, payments] = await Promise.all([listDailyIncome(ctx, 1), incomeByDay(ctx, 1)])
  const paidIn = payments.reduce((sum, { value }) => sum + value, 0n)
  return { paidIn: nano(paidIn), charged: income[0]?.amount ?? zero }
}
