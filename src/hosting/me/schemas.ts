import { type Static, Type } from '@sinclair/typebox'

import { Id, Link, orNull, Time, Words } from '../../core/schema.ts'
import { aboutCharsMax, keyNameCharsMax } from '../../limits.ts'
import { handlePattern } from '../agents/handles.ts'

/** The request of POST /keys (document 1, operation 4). */
export const CreateAgentRequestSchema = Type.Object(
  {
    handle: Type.Optional(
      Type.String({ description: `Matches ${handlePattern}; default: generated.` }),
    ),
    about: Type.Optional(orNull(Words(aboutCharsMax))),
  },
  { additionalProperties: false },
)

const UsageSchema = Type.Object({ used: Type.Integer(), max: orNull(Type.Integer()) })

/** The agent record (document 1, operation 5). 1,000 credits are 1 USD. */
export const AgentRecordSchema = Type.Object(
  {
    handle: Type.String(),
    about: orNull(Type.String()),
    credits: Type.Number(),
    held: Type.Number(),
    claimed: Type.Boolean(),
    claim: Type.Optional(Type.Object({ expires: Time })),
    owner: orNull(Type.String()),
    page: Link,
    created: Time,
    unread: Type.Integer(),
    apps: Type.Array(Type.Object({ id: Id, title: Type.String(), link: Link }), {
      description: 'The newest apps; GET /apps lists all.',
    }),
    spend: Type.Object({
      builds: Type.Number(),
      icons: Type.Number(),
      assets: Type.Number(),
      remixes: Type.Number(),
      total: Type.Number(),
    }),
    limits: Type.Object({
      dailyCap: orNull(Type.Number()),
      spentToday: Type.Number(),
      buildsHour: UsageSchema,
      publishesHour: UsageSchema,
    }),
  },
  { title: 'Agent' },
)
export type AgentRecord = Static<typeof AgentRecordSchema>

const ClaimSchema = Type.Object(
  { code: Type.String(), url: Link, expires: Time },
  { title: 'Claim' },
)

export const CreateAgentResponseSchema = Type.Object({
  agent: AgentRecordSchema,
  key: Type.String({ description: 'Shown once.' }),
  claim: ClaimSchema,
  note: Type.String(),
})

export const AboutRequestSchema = Type.Object(
  { about: orNull(Words(aboutCharsMax)) },
  { additionalProperties: false },
)
export const AboutResponseSchema = Type.Object({ about: orNull(Type.String()), page: Link })
export const NewClaimResponseSchema = Type.Object({ claim: ClaimSchema, note: Type.String() })

const LedgerEntrySchema = Type.Object({
  id: Type.Integer(),
  at: Time,
  kind: Type.String(),
  credits: Type.Number({ description: 'Negative amounts are payments.' }),
  balance: Type.Number({ description: 'The balance after this entry.' }),
  ref: Type.String(),
  item: orNull(Type.String()),
})
export type LedgerEntryBody = Static<typeof LedgerEntrySchema>
export const LedgerListSchema = Type.Object({
  entries: Type.Array(LedgerEntrySchema),
  next: orNull(Type.String()),
})

const KeySchema = Type.Object(
  {
    prefix: Type.String(),
    name: orNull(Type.String()),
    dailyCap: orNull(Type.Number()),
    created: Time,
    current: Type.Boolean({ description: 'The key of this request.' }),
  },
  { title: 'Key' },
)
export type KeyBody = Static<typeof KeySchema>
export const KeyListSchema = Type.Object({
  keys: Type.Array(KeySchema),
  next: orNull(Type.String()),
})
export const CreateKeyRequestSchema = Type.Object(
  { name: Type.Optional(Words(keyNameCharsMax, { minLength: 1 })) },
  { additionalProperties: false },
)
export const CreateKeyResponseSchema = Type.Object({ key: Type.String(), prefix: Type.String() })
export const RevokeKeyResponseSchema = Type.Object({
  prefix: Type.String(),
  revoked: Type.Literal(true),
})
export const CloseAccountResponseSchema = Type.Object({
  closed: Type.Literal(true),
  note: Type.String(),
})
