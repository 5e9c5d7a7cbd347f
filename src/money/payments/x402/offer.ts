import { Type } from '@sinclair/typebox'

import { nano, type NanoUsd } from '../../../kernel/money.ts'
import { type Json, oneOf } from '../../../kernel/schema.ts'
import { offerTimeoutSeconds } from '../limits.ts'
import type { PaymentNetwork } from './network.ts'
import { toHeader } from './payload.ts'

/** NanoUsd in one unit of USDC, which has six decimals. */
const nanoPerUnit = 1_000n

/** Converts an amount to units of USDC, rounded up. */
export const toUnits = (amount: bigint): bigint => (amount + nanoPerUnit - 1n) / nanoPerUnit

/** Converts units of USDC. */
export const fromUnits = (units: bigint): NanoUsd => nano(units * nanoPerUnit)

/** The terms of one payment, for both versions of x402. */
export interface OfferTerms {
  network: PaymentNetwork
  payTo: string
  /** Units of the asset. */
  amount: bigint
  /** The public URL of the operation that the payment is for. */
  resource: string
}

const mimeType = 'application/json'
const description = 'Credits for this call: 1 USD is 1,000 credits.'

/** The terms as version 2 of x402 has them. */
export const requirementsOf = ({ network, payTo, amount }: Omit<OfferTerms, 'resource'>) => ({
  scheme: 'exact' as const,
  network: network.id,
  asset: network.asset,
  amount: String(amount),
  payTo,
  maxTimeoutSeconds: offerTimeoutSeconds,
  extra: { ...network.domain },
})

/** One offer of the payment, in the two places where the two versions of x402 read it. */
export interface Offer {
  /** Fields of the body: version 1, or version 2 on a chain that version 1 has no name for. */
  fields: Record<string, unknown>
  /** The header PAYMENT-REQUIRED: version 2. */
  header: string
}

/**
 * Creates the offer of a 402. The official client of version 1 rejects the whole offer for a null
 * or unknown field, a relative resource or an unknown network; that of version 2 reads the header.
 */
export function createOffer(terms: OfferTerms): Offer {
  const { network, payTo, amount, resource: url } = terms
  const requirements = requirementsOf(terms)
  const resource = { url, description, mimeType }
  const second = { x402Version: 2, error: 'Payment required.', resource, accepts: [requirements] }
  const header = toHeader(second)
  if (network.name === undefined) {
    return { fields: { x402Version: 2, resource, accepts: [requirements] }, header }
  }
  const first = {
    scheme: requirements.scheme,
    network: network.name,
    maxAmountRequired: String(amount),
    resource: url,
    description,
    mimeType,
    payTo,
    maxTimeoutSeconds: offerTimeoutSeconds,
    asset: network.asset,
    extra: { ...network.domain },
  }
  return { fields: { x402Version: 1, accepts: [first] }, header }
}

/** A settled payment. */
export interface Receipt {
  /** Hash of the transaction. */
  transaction: string
  payer: string
  amount: bigint
}

/** Returns the header with the receipt in the client's version of x402. */
export function receiptHeader(
  { id, name }: PaymentNetwork,
  version: 1 | 2,
  { transaction, payer, amount }: Receipt,
): [name: string, value: string] {
  const settled = { success: true, transaction, payer }
  return version === 1
    ? ['x-payment-response', toHeader({ ...settled, network: name ?? id })]
    : ['payment-response', toHeader({ ...settled, network: id, amount: String(amount) })]
}

/** Returns the fields of an offer in a 402, for an API that puts errors into another envelope. */
export function offerIn({ x402Version, accepts, resource }: Json): Json {
  if (accepts === undefined) return {}
  return { x402Version, accepts, ...(resource !== undefined && { resource }) }
}

const AmountSchema = Type.String({ pattern: '^[1-9][0-9]*$', description: 'Units of the asset.' })
const AddressSchema = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const terms = {
  scheme: Type.Literal('exact'),
  network: Type.String({ description: 'base-sepolia in version 1, eip155:84532 in version 2.' }),
  asset: AddressSchema,
  payTo: AddressSchema,
  maxTimeoutSeconds: Type.Integer(),
  extra: Type.Object({ name: Type.String(), version: Type.String() }),
}
const ResourceSchema = Type.String({ format: 'uri' })

/** The fields of an offer in a 402: docs/spec/payments.md, "x402". */
export const offerFields = {
  x402Version: Type.Unsafe<1 | 2>(Type.Union([Type.Literal(1), Type.Literal(2)])),
  resource: Type.Object({
    url: ResourceSchema,
    description: Type.String(),
    mimeType: oneOf([mimeType]),
  }),
  accepts: Type.Array(
    Type.Union([
      Type.Object({
        ...terms,
        maxAmountRequired: AmountSchema,
        resource: ResourceSchema,
        description: Type.String(),
        mimeType: oneOf([mimeType]),
      }),
      Type.Object({ ...terms, amount: AmountSchema }),
    ]),
    { minItems: 1, description: 'The payments that make this call succeed (x402).' },
  ),
}
