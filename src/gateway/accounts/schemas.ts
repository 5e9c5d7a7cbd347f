import { type Static, Type } from '@sinclair/typebox'

import { Lenient, orNull, Time, Words } from '../../core/schema.ts'
import { keyNameCharsMax } from '../../limits.ts'

/** POST /accounts/create (document 2, section 4). */
export const AccountSchema = Type.Object({
  credit_id: Type.String({ description: 'Names the balance; it is no secret.' }),
  api_key: Type.String({ description: 'Shown once.' }),
})

export const BalanceRequestSchema = Lenient({
  credit_id: Type.Optional(Type.String({ description: 'Your own; it may be left out.' })),
})

/** POST /credits/balance: USD. */
export const BalanceSchema = Type.Object({
  balance: Type.Number(),
  held: Type.Number({ description: 'Kept back for what is running.' }),
  available: Type.Number({ description: 'balance - held' }),
  currency: Type.Literal('USDT'),
  credit_id: Type.String(),
})

const key = {
  id: Type.String(),
  prefix: Type.String({ description: 'The first letters of the key.' }),
  name: orNull(Type.String()),
  daily_cap: orNull(
    Type.Number({ description: 'Credits a UTC day; 1,000 are 1 USD. null is no cap, 0 nothing.' }),
  ),
  created: Time,
  current: Type.Boolean({ description: 'The key of this call.' }),
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

/** What POST and PATCH /accounts/keys take. */
export const KeyRequestSchema = Lenient({
  name: Type.Optional(Words(keyNameCharsMax, { minLength: 1 })),
  daily_cap: Type.Optional(orNull(Type.Number({ minimum: 0, maximum: dailyCapMax }))),
})
