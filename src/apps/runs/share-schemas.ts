import { type Static, Type } from '@sinclair/typebox'

import { nullable, oneOf, strictObject, TimeSchema } from '../../kernel/schema.ts'

const shareVerdicts = ['verified', 'unlinked', 'mismatch', 'no_proof', 'unreadable'] as const
export type ShareVerdict = (typeof shareVerdicts)[number]

export const ShareDueSchema = Type.Object({
  amount: Type.String({ description: 'USDC, rounded down to six decimals.' }),
  asset: Type.String({ description: 'Contract of the token.' }),
  network: Type.String({ description: 'CAIP-2, such as eip155:8453.' }),
  payTo: Type.String({ description: 'Address of the maker.' }),
  nonce: Type.String({
    description: 'Nonce of transferWithAuthorization that binds a payment to the run.',
  }),
  dueBy: TimeSchema,
})
export type ShareDue = Static<typeof ShareDueSchema>

export const SharePaymentSchema = Type.Object({
  tx: Type.String(),
  network: Type.String(),
  payer: Type.String(),
  amount: Type.String({ description: 'USDC.' }),
  at: TimeSchema,
})
/** A proven payment of a share. */
export type SharePayment = Static<typeof SharePaymentSchema>

/** POST /runs/{id}/share: a transaction that the agent sent. Without a body: x402. */
export const PayShareSchema = strictObject({
  tx: Type.Optional(
    Type.String({ pattern: '^0x[0-9a-fA-F]{64}$', description: 'Hash of the transaction.' }),
  ),
  network: Type.Optional(
    Type.String({ maxLength: 60, description: 'CAIP-2, such as eip155:8453.' }),
  ),
  signature: Type.Optional(
    Type.String({
      pattern: '^0x([0-9a-fA-F]{2}){1,4096}$',
      description:
        'EIP-191 signature of the payer over "Berth profit share\\nrun: <id>\\ntx: <hash>\\nnetwork: <CAIP-2>". Not needed with the nonce of shareDue.',
    }),
  ),
})
export type PayShareRequest = Static<typeof PayShareSchema>

/** The share in a run; null for a pack without one. */
export const RunShareSchema = nullable(
  Type.Object({
    verdict: nullable(oneOf(shareVerdicts)),
    due: Type.Optional(nullable(ShareDueSchema)),
    payment: Type.Optional(nullable(SharePaymentSchema)),
  }),
)

/** Due shares of a pack by the verdict on their payment. */
export const ShareCountsSchema = Type.Object({
  verified: Type.Integer(),
  unlinked: Type.Integer(),
  mismatch: Type.Integer(),
  no_proof: Type.Integer(),
  unreadable: Type.Integer(),
})
