import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { iso } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import { ChainReadError } from '../../money/payments/json-rpc.ts'
import { fromUnits } from '../../money/payments/x402/headers.ts'
import type { ProofProblem, ProvenTransfer } from '../../money/payments/x402/proof.ts'
import { isTransactionUsed, type PaymentRow, useTransfer } from '../../money/payments/x402/rows.ts'
import type { X402 } from '../../money/payments/x402/x402.ts'
import { type Agent, findAgent } from '../../people/agents/agents.ts'
import { notify } from '../../people/notifications/notifications.ts'
import type { Share } from '../folders/folder.ts'
import { changeShares } from './record.ts'
import { getOwnRun, lockRun, type Run, updateRun } from './runs.ts'
import type { Money, PayShareRequest, ReportRequest, ShareDue, ShareVerdict } from './schemas.ts'

/** USDC has six decimals. */
const decimals = 6
/** Percent have at most four decimals. */
const percentParts = 10_000

/** Converts "12.50" to units of USDC. */
function toUnits(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}

/** Converts units of USDC to "12.5". */
export function formatUnits(units: bigint): string {
  const digits = String(units).padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return digits.slice(0, -decimals) + (fraction && `.${fraction}`)
}

/** Returns the units that are due, rounded down. */
export const dueUnits = ({ amount }: Money, percent: number): bigint =>
  (toUnits(amount) * BigInt(Math.round(percent * percentParts))) / BigInt(100 * percentParts)

/** Returns the field of a report that a share is of, and the problem of a report without it. */
export function shareBase(
  { of }: Share,
  { outcome, profit, revenue }: ReportRequest,
): { money: Money | undefined; problem?: string } {
  const [money, other] = of === 'profit' ? [profit, revenue] : [revenue, profit]
  const otherName = of === 'profit' ? 'revenue' : 'profit'
  if (other) {
    return { money, problem: `The share is of the ${of}: send "${of}" and not "${otherName}".` }
  }
  const isNeeded = money === undefined && (outcome === 'worked' || outcome === 'partly')
  const problem = `Send "${of}", such as { "amount": "12.50", "currency": "USDC" }: the maker has a share of it.`
  return { money, ...(isNeeded && { problem }) }
}

/** Returns the text whose keccak256 is the nonce of a bound payment (docs/spec/payments.md). */
export const nonceText = (pack: string, run: string): string => `berth/share/v1|${pack}|${run}`

/** Returns the text that the sender of a bare transaction signs. */
const signedText = (run: string, tx: string, network: string): string =>
  `Berth profit share\nrun: ${run}\ntx: ${tx}\nnetwork: ${network}`

/** Seconds after which an unconfirmed transaction is worth another look. */
const confirmationSeconds = 5

/**
 * Pays the due share of an own run: by x402, which was settled before (http/payments.ts), or with a
 * transaction that the agent sent. A paid share stays paid. Throws `run_not_found`, `share_off`,
 * `bad_request`, `payments_off`, `payment_required`, `chain_unavailable` and the errors `tx_...`.
 */
export async function payShare(
  ctx: AppContext,
  agent: Agent,
  id: string,
  { tx, network, signature }: PayShareRequest,
): Promise<Run> {
  const run = await getOwnRun(ctx, agent, id)
  if (run.share === null) throw new ApiError('share_off')
  if (run.payment !== null) return run
  if (run.shareDue === null) throw nothingDue(run)
  if (!ctx.x402) throw new ApiError('payments_off', { setting: 'X402_PAY_TO' })
  if (tx !== undefined && network !== undefined) {
    return payByTransaction(ctx, ctx.x402, run, run.shareDue, { tx, network, signature })
  }
  if ((tx ?? network ?? signature) !== undefined)
    rejectRequest('Send "tx" and "network", or nothing for x402.')
  const problem = await ctx.x402.findProblem()
  if (problem) throw new ApiError('payments_off', { setting: problem.setting, isSet: true })
  const { payTo, amount } = run.shareDue
  throw new ApiError('payment_required', {
    amount: fromUnits(toUnits(amount)),
    share: { run: id, payTo },
  })
}

function nothingDue({ state }: Run): ApiError<'bad_request'> {
  const problem =
    state === 'open'
      ? 'Report the run first: POST /runs/{id}/report.'
      : 'Nothing is due for this run.'
  return new ApiError('bad_request', { problem })
}

const verdicts: Record<ProofProblem, ShareVerdict> = {
  tx_not_found: 'no_proof',
  tx_unconfirmed: 'no_proof',
  tx_failed: 'mismatch',
  tx_wrong_asset: 'mismatch',
  tx_wrong_payee: 'mismatch',
  tx_too_small: 'mismatch',
  tx_too_old: 'mismatch',
  tx_not_yours: 'unlinked',
}

interface SentTransaction {
  tx: string
  network: string
  signature: string | undefined
}

async function payByTransaction(
  ctx: AppContext,
  x402: X402,
  run: Run,
  due: ShareDue,
  { tx: given, network, signature }: SentTransaction,
): Promise<Run> {
  const tx = given.toLowerCase()
  const { id, name } = x402.network
  const isSameChain = due.network === id && (network === id || network === name)
  const message = signedText(run.id, tx, due.network)
  const claim = { ...due, tx, message, signature, units: toUnits(due.amount) }
  const found = isSameChain
    ? await x402
        .prove({ ...claim, since: run.created, confirmations: ctx.config.x402Confirmations })
        .catch((error: unknown) => {
          if (error instanceof ChainReadError) return 'unreadable' as const
          throw error
        })
    : 'tx_wrong_asset'
  if (typeof found !== 'string') return recordTransfer(ctx, run, tx, found)
  await setVerdict(ctx, run, found === 'unreadable' ? found : verdicts[found])
  throw problemOf(found, due, { tx, message })
}

/** Stores the verdict on a payment that is not proven. */
const setVerdict = (ctx: AppContext, run: Run, verdict: ShareVerdict): Promise<void> =>
  ctx.db.tx(async (db) => {
    const now = await lockRun(db, run)
    if (now.payment !== null || now.shareVerdict === verdict) return
    await changeShares(db, now, { from: now.shareVerdict, to: verdict })
    await updateRun(db, run.id, { shareVerdict: verdict })
  })

function problemOf(
  problem: ProofProblem | 'unreadable',
  { network, asset, payTo, amount, nonce }: ShareDue,
  { tx, message }: { tx: string; message: string },
): ApiError {
  switch (problem) {
    case 'unreadable':
      return new ApiError('chain_unavailable')
    case 'tx_unconfirmed':
      return new ApiError('tx_unconfirmed', { retryAfter: confirmationSeconds })
    case 'tx_wrong_asset':
      return new ApiError('tx_wrong_asset', { expected: `USDC (${asset}) on ${network}` })
    case 'tx_wrong_payee':
      return new ApiError('tx_wrong_payee', { expected: payTo })
    case 'tx_too_small':
      return new ApiError('tx_too_small', { expected: `${amount} USDC` })
    case 'tx_too_old':
      return new ApiError('tx_too_old')
    case 'tx_not_yours':
      return new ApiError('tx_not_yours', { message, nonce })
    case 'tx_not_found':
      return new ApiError('tx_not_found', { tx })
    case 'tx_failed':
      return new ApiError('tx_failed', { tx })
  }
}

/** Uses the first transfer that did not pay for anything yet. Throws `tx_used`. */
const recordTransfer = (
  ctx: AppContext,
  run: Run,
  tx: string,
  transfers: ProvenTransfer[],
): Promise<Run> =>
  ctx.db.tx(async (db) => {
    const now = await lockRun(db, run)
    if (now.payment !== null) return now
    const network = now.shareDue?.network ?? ''
    const at = ctx.clock.now()
    const isNew = transfers.length > 1 || !(await isTransactionUsed(db, { network, tx }))
    for (const { id, log, payer, units } of isNew ? transfers : [])
      if (await useTransfer(db, { network, tx, id, log }, at))
        return markPaid(ctx, db, now, { tx, payer, units })
    throw new ApiError('tx_used')
  })

/** Marks a share as paid in the transaction that settles its payment by x402. */
export async function recordSettledShare(
  ctx: AppContext,
  db: Db,
  { run: id, hash, payer, signed }: PaymentRow,
): Promise<void> {
  if (id === null) return
  const run = await lockRun(db, { id })
  if (run.payment !== null) return
  const units = BigInt(signed.authorization.value)
  await markPaid(ctx, db, run, { tx: hash ?? '', payer, units })
}

async function markPaid(
  ctx: AppContext,
  db: Db,
  run: Run,
  { tx, payer, units }: { tx: string; payer: string; units: bigint },
): Promise<Run> {
  const at = ctx.clock.now()
  const network = run.shareDue?.network ?? ''
  const payment = { tx, network, payer, amount: formatUnits(units), at: iso(at) }
  const verdict = 'verified' as const
  await changeShares(db, run, { from: run.shareVerdict, to: verdict, paid: Number(units) })
  const paid = await updateRun(db, run.id, { state: 'settled', shareVerdict: verdict, payment })
  const agent = await findAgent(ctx, run.agent)
  const text = sentence('{actor} paid your share of a run: {amount} USDC.', {
    actor: `@${agent?.handle}`,
    amount: payment.amount,
  })
  const data = { run: run.id, tx, network, amount: payment.amount }
  const actor = agent?.handle ?? ''
  await notify(ctx, db, { to: run.maker, kind: 'share.paid', item: run.pack, actor, text, data })
  return paid
}
