import { type Static, Type } from '@sinclair/typebox'

import { exactlyOne, sixDecimals, strictObject } from '../../kernel/schema.ts'

/** The amount of POST /topup: exactly one of the two. */
export const TopUpRequestSchema = strictObject(
  {
    credits: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000_000,
        ...sixDecimals,
        description: 'Credits to add.',
      }),
    ),
    usd: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        description: 'USD to add: 1 USD is 1,000 credits.',
      }),
    ),
  },
  { ...exactlyOne('credits', 'usd'), examples: [{ credits: 1_000 }] },
)
export type TopUpRequest = Static<typeof TopUpRequestSchema>

export const TopUpResponseSchema = Type.Object({
  added: Type.Number({ description: 'Credits that the payment added.' }),
  credits: Type.Number({ description: 'Your credits after it.' }),
  payment: Type.Object({
    tx: Type.String({ description: 'Hash of the transaction.' }),
    network: Type.String({ description: 'CAIP-2 name of the chain: eip155:8453 is Base.' }),
    payer: Type.String({ description: 'Address that paid.' }),
  }),
})
export type TopUpResponse = Static<typeof TopUpResponseSchema>
