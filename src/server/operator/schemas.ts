import { Type } from '@sinclair/typebox'

import { decisionReasonCharsMax } from '../../kernel/limits.ts'
import { nullable, oneOf } from '../../kernel/schema.ts'
import { decisionNames } from './decisions.ts'

const closed = { additionalProperties: false }

export const DecisionRequestSchema = Type.Object(
  {
    decision: oneOf(decisionNames),
    item: Type.String({
      maxLength: 200,
      description: 'What it is about: an app, "@handle", a person, a client or a page.',
    }),
    why: Type.Optional(
      Type.String({ maxLength: decisionReasonCharsMax, description: 'The reason.' }),
    ),
    own: Type.Optional(
      Type.Boolean({ description: 'Confirms a restriction of your own network or account.' }),
    ),
  },
  closed,
)

export const SettingRequestSchema = Type.Object(
  { value: Type.String({ maxLength: 10_000, description: 'As in the environment.' }) },
  closed,
)

export const ModelRequestSchema = Type.Object(
  { model: Type.String({ maxLength: 200 }), on: Type.Boolean() },
  closed,
)

export const ModelPriceRequestSchema = Type.Object(
  {
    model: Type.String({ maxLength: 200 }),
    price: nullable(
      Type.Record(Type.String({ maxLength: 40 }), Type.String({ maxLength: 40 }), {
        description: 'USD by part, such as {"prompt": "0.25"}; null: the price of the list.',
      }),
    ),
  },
  closed,
)

export const LibraryRequestSchema = Type.Object(
  { library: Type.String({ maxLength: 300 }) },
  closed,
)

export const CreditPaymentRequestSchema = Type.Object(
  {
    payment: Type.String({ maxLength: 200, description: 'An unmatched payment.' }),
    invoice: Type.String({ maxLength: 200, description: 'The invoice that it pays.' }),
  },
  closed,
)

export const GrantRequestSchema = Type.Object(
  {
    to: Type.String({ maxLength: 120, description: '"@handle", a person or a gateway account.' }),
    usd: Type.String({ maxLength: 20, description: 'USD as a text: "0.25".' }),
  },
  closed,
)
export const GrantResponseSchema = Type.Object({ to: Type.String(), credits: Type.Number() })
