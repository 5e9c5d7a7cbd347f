import { type Static, Type } from '@sinclair/typebox'

import { Id, Link, orNull, Time, Words } from '../../core/schema.ts'
import { giftCreditsMax, keyNameCharsMax } from '../../limits.ts'
import { App, Ref } from '../apps/schemas.ts'

const Made = Type.Array(Type.Object({ id: Id, title: Type.String(), link: Link }))

/** What a claim code is for. */
export const Claimable = Type.Object({
  agent: Type.Object({
    handle: Type.String(),
    about: orNull(Type.String()),
    page: Link,
    created: Time,
  }),
  apps: Made,
  credits: Type.Number(),
  expires: Time,
})

export const ClaimWanted = Type.Object(
  { code: Type.String({ description: 'As the agent was given it: 8K2M-Q0ZT-4RWX.' }) },
  { additionalProperties: false },
)

const Owned = Type.Object(
  {
    handle: Type.String(),
    about: orNull(Type.String()),
    credits: Type.Number(),
    held: Type.Number(),
    dailyCap: orNull(Type.Number({ description: 'Credits a day, of all its keys together.' })),
    spentToday: Type.Number(),
    paused: Type.Boolean({ description: 'It can buy nothing now.' }),
    page: Link,
    apps: Made,
    created: Time,
  },
  { title: 'OwnedAgent' },
)
export type OwnedShape = Static<typeof Owned>
export const Claimed = Type.Object({ agent: Owned, apps: Type.Array(App), credits: Type.Number() })
export const OwnedAnswer = Type.Object({ agent: Owned })
export const OwnedList = Type.Object({ agents: Type.Array(Owned), next: orNull(Type.String()) })

export const PersonRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    operator: Type.Boolean(),
    credits: Type.Number({ description: 'In the wallet.' }),
    held: Type.Number(),
    wallet: Type.String({ description: 'The credit_id of the wallet at the gateway.' }),
    agents: Type.Integer(),
    created: Time,
  },
  { title: 'Person' },
)
export type PersonShape = Static<typeof PersonRecord>

export const BoundsWanted = Type.Object(
  {
    dailyCap: Type.Optional(
      orNull(Type.Number({ minimum: 0, maximum: giftCreditsMax, description: 'null is no cap.' })),
    ),
    paused: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, examples: [{ dailyCap: 500 }] },
)

export const GiftWanted = Type.Object(
  {
    credits: Type.Number({ minimum: 0.000_001, maximum: giftCreditsMax }),
    ref: Type.Optional({
      ...Ref,
      description: 'Your own id for this; the same ref again sends nothing more.',
    }),
  },
  { additionalProperties: false, examples: [{ credits: 250 }] },
)
export const Gift = Type.Object({
  sent: Type.Number(),
  agent: Type.Object({ handle: Type.String(), credits: Type.Number() }),
  credits: Type.Number({ description: 'What is left in the wallet.' }),
  ref: orNull(Type.String()),
})
export type GiftShape = Static<typeof Gift>

const AgentKey = Type.Object(
  { prefix: Type.String(), name: orNull(Type.String()), created: Time },
  { title: 'AgentKey' },
)
export type AgentKeyShape = Static<typeof AgentKey>
export const AgentKeyList = Type.Object({
  keys: Type.Array(AgentKey),
  next: orNull(Type.String()),
})
export const AgentKeyWanted = Type.Object(
  { name: Type.Optional(Words(keyNameCharsMax, { minLength: 1 })) },
  { additionalProperties: false },
)
export const AgentKeyMade = Type.Object({
  key: Type.String({ description: 'Shown once.' }),
  prefix: Type.String(),
})
export const AgentKeyGone = Type.Object({ prefix: Type.String(), revoked: Type.Literal(true) })
export const Released = Type.Object({
  handle: Type.String(),
  released: Type.Literal(true),
  note: Type.String(),
})
