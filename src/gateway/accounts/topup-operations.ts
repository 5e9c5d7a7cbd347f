import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { formatDecimal, nano, type NanoUsd, parseMillionths, toUsd } from '../../kernel/money.ts'
import {
  lenientObject,
  namedObject,
  nullable,
  oneOf,
  sixDecimals,
  TimeSchema,
} from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import {
  createInvoice,
  findInvoice,
  type InvoiceWithPayments,
} from '../../money/payments/coins/invoices.ts'
import {
  coinOf,
  formatUnits,
  methods,
  requiredConfirmations,
} from '../../money/payments/coins/method.ts'
import {
  type AccountId,
  exceptions,
  stateOf,
  statuses,
  type StoredInvoice,
} from '../../money/payments/coins/status.ts'
import { readWatcher } from '../../money/payments/coins/watchers.ts'
import { key } from '../authentication.ts'
import { operationsOf } from '../operation.ts'

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
function checkCurrency(currency: string): void {
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

const TopupParamsSchema = Type.Object({ method: oneOf(methods) })

/** POST /topup/create/{method} (document 2, section 4). */
const TopupRequestSchema = lenientObject({
  amount: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000, ...sixDecimals }),
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3,5}$',
      described: { enum: ['USD'] },
      description: 'Currency of the amount. Only USD.',
      default: 'USD',
    }),
  ),
})

const coinAmount = (description: string) =>
  Type.String({ pattern: '^\\d+(\\.\\d+)?$', description: `${description}, in coins.` })
const UsdSchema = Type.Number({ minimum: 0 })

const invoiceFields = {
  invoice_id: Type.String(),
  payment_request: Type.String({ description: 'The payment URI: BIP21, EIP-681 or Solana Pay.' }),
  address: Type.String(),
  network: Type.String({ description: 'CAIP-2-like: eip155:1, bitcoin:mainnet.' }),
  amount_due: coinAmount('The amount to pay'),
  asset: Type.String(),
  rate: Type.String({ description: 'USD per coin.' }),
  expires_at: TimeSchema,
}

export const InvoiceSchema = namedObject('Invoice', invoiceFields)
type InvoiceBody = Static<typeof InvoiceSchema>

const PaymentSchema = Type.Object({
  tx: Type.String(),
  amount: coinAmount('The amount'),
  confirmations: Type.Integer({ minimum: 0 }),
  required_confirmations: Type.Integer({ minimum: 1 }),
  credited_usd: UsdSchema,
  late: Type.Boolean(),
})

const InvoiceStatusSchema = namedObject('InvoiceStatus', {
  ...invoiceFields,
  method: oneOf(methods),
  status: oneOf(statuses),
  exception: oneOf(exceptions),
  amount: UsdSchema,
  currency: Type.String(),
  amount_paid: coinAmount('What arrived, confirmed or not'),
  amount_confirmed: coinAmount('What was credited'),
  rate_source: Type.String(),
  payments: Type.Array(PaymentSchema),
  credited: UsdSchema,
  created_at: TimeSchema,
  monitored_until: TimeSchema,
  watcher: Type.Object({ ok: Type.Boolean(), last_poll_at: nullable(TimeSchema) }),
})
export type InvoiceStatusBody = Static<typeof InvoiceStatusSchema>

const InvoiceParamsSchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100 }),
})

const operation = operationsOf('Account')

const createTopup = operation({
  id: 'create_topup',
  route: 'POST /topup/create/:method',
  summary: 'Create a crypto top-up.',
  access: key,
  input: { params: TopupParamsSchema, body: TopupRequestSchema },
  output: { 200: InvoiceSchema },
  errors: [
    'too_large',
    'bad_request',
    'not_found',
    'topups_limit',
    'no_rate',
    'payments_off',
    'try_again',
  ],
  async run(ctx, { params: { method }, body: { amount, currency = 'USD' }, caller: { account } }) {
    checkCurrency(currency)
    const invoice = { account, method, amount: parseTopupAmount(ctx, amount) }
    return presentInvoice(await createInvoice(ctx, invoice))
  },
})

const getTopup = operation({
  id: 'get_topup',
  route: 'GET /topup/status/:id',
  summary: 'Get the status of a top-up.',
  access: key,
  input: { params: InvoiceParamsSchema },
  output: { 200: InvoiceStatusSchema },
  errors: ['bad_request', 'not_found'],
  run: (ctx, { params: { id }, caller: { account } }) => getInvoiceStatus(ctx, account, id),
})

/** Routes of crypto top-ups (document 2, section 4). */
export const topupOperations = [createTopup, getTopup]
