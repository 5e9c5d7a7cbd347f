import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { ApiError } from '../../../kernel/errors.ts'
import { sha256 } from '../../../kernel/ids.ts'
import { nano, type NanoUsd } from '../../../kernel/money.ts'
import { isRecord, oneOf } from '../../../kernel/schema.ts'
import { offerTimeoutSeconds, paymentHeaderCharsMax } from '../limits.ts'
import type { PaymentNetwork } from './network.ts'

const hex = (digits: number) => Type.String({ pattern: `^0x[0-9a-fA-F]{${digits}}$` })
/** An unsigned decimal within 256 bits: no sign, no exponent, no leading zero. */
const UintSchema = Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' })

/** A signed `transferWithAuthorization` (ERC-3009), as both versions of x402 send it. */
const SignedAuthorizationSchema = Type.Object({
  signature: Type.String({ pattern: '^0x([0-9a-fA-F]{2}){65,4096}$' }),
  authorization: Type.Object({
    from: hex(40),
    to: hex(40),
    value: UintSchema,
    validAfter: UintSchema,
    validBefore: UintSchema,
    nonce: hex(64),
  }),
})
export type SignedAuthorization = Static<typeof SignedAuthorizationSchema>

const PayloadV1Schema = Type.Object({
  x402Version: Type.Literal(1),
  scheme: Type.String(),
  network: Type.String(),
  payload: SignedAuthorizationSchema,
})
const PayloadV2Schema = Type.Object({
  x402Version: Type.Literal(2),
  accepted: Type.Object({
    scheme: Type.String(),
    network: Type.String(),
    asset: hex(40),
    amount: UintSchema,
    payTo: hex(40),
  }),
  payload: SignedAuthorizationSchema,
})

/** A payment of a request, as its client claims it. */
export interface Payment {
  /** The version of x402 in which the client reads the receipt. */
  version: 1 | 2
  signed: SignedAuthorization
  /** The terms that the client accepted; version 1 sends fewer of them. */
  terms: { scheme: string; network: string; asset?: string; amount?: string; payTo?: string }
}

const headerOf = (headers: Headers): string | null =>
  headers.get('payment-signature') ?? headers.get('x-payment')

/** Returns whether a request has a payment. */
export const hasPayment = (headers: Headers): boolean => headerOf(headers) !== null

/**
 * Reads the payment of a request: PAYMENT-SIGNATURE (version 2), else X-PAYMENT (version 1). The
 * version inside decides. Throws `bad_payment`.
 */
export function readPayment(headers: Headers): Payment {
  const header = headerOf(headers) ?? ''
  if (header.length > paymentHeaderCharsMax) {
    throw badPayment(`it has more than ${paymentHeaderCharsMax} characters`)
  }
  const payload = parseHeader(header)
  const version = isRecord(payload) ? payload['x402Version'] : undefined
  if (version === 1) {
    requireSchema(PayloadV1Schema, payload)
    const { scheme, network, payload: signed } = payload
    return { version, signed, terms: { scheme, network } }
  }
  if (version === 2) {
    requireSchema(PayloadV2Schema, payload)
    return { version, signed: payload.payload, terms: payload.accepted }
  }
  throw badPayment('"x402Version" must be 1 or 2')
}

function requireSchema<T extends TSchema>(schema: T, value: unknown): asserts value is Static<T> {
  const problem = Value.Errors(schema, value).First()
  if (problem) throw badPayment(`${problem.path.slice(1).replaceAll('/', '.')} is invalid`)
}

function parseHeader(header: string): unknown {
  try {
    return fromHeader(header)
  } catch {
    throw badPayment('it is not JSON in base64')
  }
}

const badPayment = (why: string) => new ApiError('bad_payment', { why })

/** The unique name of an authorization, which moves money once (ERC-3009). */
export interface AuthorizationId {
  network: string
  payer: string
  nonce: string
}

/** Returns the name of a payment's authorization, in one letter case. */
export const authorizationIdOf = (
  network: string,
  { authorization: { from, nonce } }: SignedAuthorization,
): AuthorizationId => ({ network, payer: from.toLowerCase(), nonce: nonce.toLowerCase() })

/** Returns an authorization as one text, for references of the ledger and locks. */
export const authorizationKey = ({ network, payer, nonce }: AuthorizationId): string =>
  `${network}:${payer}:${nonce}`

/** Returns the idempotency key of a request with this payment. */
export const authorizationName = (network: string, { signed }: Payment): string =>
  `x402-${sha256(authorizationKey(authorizationIdOf(network, signed))).slice(0, 40)}`

/** Encodes a header of x402: JSON in standard base64. */
export const toHeader = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64')

/** Decodes a header of x402. Throws for other text. */
export function fromHeader(text: string): unknown {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') !== text.trim().replace(/=+$/, '')) {
    throw new Error('not base64')
  }
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
}

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
