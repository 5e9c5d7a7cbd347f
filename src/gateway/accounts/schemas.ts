import { type Static, Type } from '@sinclair/typebox'

import { lenientObject, nullable, textSchema, TimeSchema } from '../../core/schema.ts'
import { keyNameCharsMax } from '../../limits.ts'

/** POST /accounts/create (document 2, section 4). */
export const AccountSchema = Type.Object({
  credit_id: Type.String({ description: 'Id of the balance; not secret.' }),
  api_key: Type.String({ description: 'Shown once.' }),
})

export const BalanceRequestSchema = lenientObject({
  credit_id: Type.Optional(Type.String({ description: 'Your own credit_id.' })),
})

/** POST /credits/balance. Amounts in USD. */
export const BalanceSchema = Type.Object({
  balance: Type.Number(),
  held: Type.Number({ description: 'Reserved for running requests.' }),
  available: Type.Number({ description: 'balance - held' }),
  currency: Type.Literal('USDT'),
  credit_id: Type.String(),
})

const key = {
  id: Type.String(),
  prefix: Type.String({ description: 'First characters of the key.' }),
  name: nullable(Type.String()),
  daily_cap: nullable(
    Type.Number({
      description: 'Credits per UTC day; 1,000 credits are 1 USD. null: no cap. 0: no spending.',
    }),
  ),
  created: TimeSchema,
  current: Type.Boolean({ description: 'Whether it is the key of this request.' }),
}

export const KeySchema = Type.Object(key, { title: 'Key' })
export type KeyResponse = Static<typeof KeySchema>

export const KeyListSchema = Type.Object({ data: Type.Array(KeySchema) })
export const NewKeySchema = Type.Object({
  ...key,
  api_key: Type.String({ description: 'Shown once.' }),
})
export const DeletedKeySchema = Type.Object({ id: Type.String(), deleted: Type.Literal(true) })

const dailyCapMax = 1_000_000_000

/** Body of POST and PATCH /accounts/keys. */
export const KeyRequestSchema = lenientObject({
  name: Type.Optional(textSchema(keyNameCharsMax, { minLength: 1 })),
  daily_cap: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: dailyCapMax }))),
})
export type KeyParams = Static<typeof KeyRequestSchema>
