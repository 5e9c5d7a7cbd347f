import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { formatDecimal, nano, type NanoUsd, parseMillionths, toUsd } from '../../kernel/money.ts'
import { iso } from '../../kernel/time.ts'
import { findInvoice, type InvoiceWithPayments } from '../../money/payments/coins/invoices.ts'
import { coinOf, formatUnits, requiredConfirmations } from '../../money/payments/coins/method.ts'
import { type AccountId, stateOf, type StoredInvoice } from '../../money/payments/coins/status.ts'
import { readWatcher } from '../../money/payments/coins/watchers.ts'
import type { InvoiceBody, InvoiceStatusBody } from './schemas.ts'

/** NanoUsd in a millionth of a USD. */
const nanoPerMicro = 1_000n

/** Converts the amount of a top-up. Throws `bad_request` for one that is not allowed. */
export function parseTopupAmount({ config }: AppContext, amount: number): NanoUsd {
  const exact = nano(parseMillionths(amount, 'amount') * nanoPerMicro)
  const { topupMinUsd: min, topupMaxUsd: max } = config
  if (exact >= min && exact <= max) return exact
  const bounds = `${formatDecimal(toUsd(min))} to ${formatDecimal(toUsd(max))} USD`
  return rejectRequest(`"amount" must be ${bounds}.`, 'amount')
}

/** Throws `bad_request` for another currency than USD. */
export function checkCurrency(currency: string): void {
  if (currency !== 'USD') rejectRequest('"currency" must be USD.', 'currency')
}

export function presentInvoice(invoice: StoredInvoice): InvoiceBody {
  const { id, uri, address, network, asset, due, rate, expires } = invoice
  return {
    invoice_id: id,
    payment_request: uri,
    address,
    network,
    amount_due: formatUnits(BigInt(due), decimalsOf(asset)),
    asset,
    rate: formatUnits(rate, 9),
    expires_at: iso(expires),
  }
}

const decimalsOf = (asset: string): number => coinOf(asset)?.decimals ?? 0

/** Returns the status of an invoice of an account. Throws `not_found`. */
export async function getInvoiceStatus(
  ctx: AppContext,
  account: AccountId,
  id: string,
): Promise<InvoiceStatusBody> {
  const found = await findInvoice(ctx, id, account)
  if (!found) throw new ApiError('not_found', { what: 'top-up' })
  const watcher = await readWatcher(ctx, found.invoice.network)
  return {
    ...presentInvoice(found.invoice),
    ...presentStatus(ctx, found),
    watcher: {
      ok: watcher.ok,
      last_poll_at: watcher.lastPollAt === null ? null : iso(watcher.lastPollAt),
    },
  }
}

function presentStatus(ctx: AppContext, { invoice, payments }: InvoiceWithPayments) {
  const { method, amount, network, asset, rateSource, created, watchedUntil } = invoice
  const { paid, confirmed, credited, status, exception } = stateOf(
    invoice,
    payments,
    ctx.clock.now(),
  )
  const decimals = decimalsOf(asset)
  return {
    method,
    status,
    exception,
    amount: toUsd(amount),
    currency: 'USD',
    amount_paid: formatUnits(paid, decimals),
    amount_confirmed: formatUnits(confirmed, decimals),
    rate_source: rateSource,
    payments: payments
      .filter(({ state }) => state !== 'replaced')
      .map((payment) => ({
        tx: payment.tx,
        amount: formatUnits(BigInt(payment.amount), decimalsOf(payment.asset)),
        confirmations: payment.confirmations,
        required_confirmations: requiredConfirmations(ctx.config, network),
        credited_usd: toUsd(payment.value ?? 0n),
        late: payment.isLate === 1,
      })),
    credited: toUsd(credited),
    created_at: iso(created),
    monitored_until: iso(watchedUntil),
  }
}
