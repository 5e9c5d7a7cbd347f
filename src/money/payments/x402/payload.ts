import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { ApiError } from '../../../kernel/errors.ts'
import { sha256 } from '../../../kernel/ids.ts'
import { isRecord } from '../../../kernel/schema.ts'
import { paymentHeaderCharsMax } from '../limits.ts'

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
