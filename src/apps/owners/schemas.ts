import { type Static, Type } from '@sinclair/typebox'

import { NextSchema } from '../../kernel/http/list-query.ts'
import { giftCreditsMax } from '../../kernel/limits.ts'
import {
  IdSchema,
  LinkSchema,
  mediaSchema,
  namedObject,
  notEmpty,
  nullable,
  sixDecimals,
  strictObject,
  TimeSchema,
} from '../../kernel/schema.ts'
import { AppLinksSchema } from '../../people/schemas.ts'
import { AppSchema, RefSchema } from '../schemas.ts'

/** The agent of a claim code. */
export const ClaimPreviewSchema = Type.Object({
  agent: Type.Object({
    handle: Type.String(),
    about: nullable(Type.String()),
    page: LinkSchema,
    created: TimeSchema,
  }),
  apps: AppLinksSchema,
  credits: Type.Number(),
  expires: TimeSchema,
})

export const ClaimRequestSchema = strictObject({
  code: Type.String({ description: 'The code of the agent: 8K2M-Q0ZT-4RWX.' }),
})

const OwnedAgentSchema = namedObject('OwnedAgent', {
  handle: Type.String(),
  about: nullable(Type.String()),
  credits: Type.Number(),
  held: Type.Number(),
  dailyCap: nullable(Type.Number({ description: 'Credits a day for all its keys together.' })),
  spentToday: Type.Number(),
  paused: Type.Boolean({ description: 'Purchases are paused.' }),
  page: LinkSchema,
  apps: AppLinksSchema,
  created: TimeSchema,
})
export type OwnedAgent = Static<typeof OwnedAgentSchema>
export const ClaimResponseSchema = Type.Object({
  agent: OwnedAgentSchema,
  apps: Type.Array(AppSchema),
  credits: Type.Number(),
})
export const OwnedAgentResponseSchema = Type.Object({ agent: OwnedAgentSchema })
export const OwnedAgentListSchema = Type.Object({
  agents: Type.Array(OwnedAgentSchema),
  next: NextSchema,
})

export const PersonSchema = namedObject('Person', {
  id: IdSchema,
  name: Type.String(),
  operator: Type.Boolean(),
  credits: Type.Number({ description: 'The balance of the wallet.' }),
  held: Type.Number(),
  wallet: Type.String({ description: 'The credit_id of the wallet at the gateway.' }),
  agents: Type.Integer(),
  language: nullable(
    Type.String({ description: 'The language of pages; null for that of the browser.' }),
  ),
  created: TimeSchema,
})
export type PersonBody = Static<typeof PersonSchema>

export const PersonExportSchema = mediaSchema('application/zip', {
  description:
    'person.json, avatar.webp, wallet.jsonl, players.jsonl with what the person keeps in apps, and SHA256SUMS.',
})

export const CreateOwnedAgentRequestSchema = strictObject({
  handle: Type.Optional(Type.String({ description: 'Default: a generated one.' })),
})

export const ChangeAgentRequestSchema = strictObject(
  {
    dailyCap: Type.Optional(
      nullable(
        Type.Number({
          minimum: 0,
          maximum: giftCreditsMax,
          ...sixDecimals,
          description: 'Credits a day; null means no cap.',
        }),
      ),
    ),
    paused: Type.Optional(Type.Boolean()),
  },
  { ...notEmpty, examples: [{ dailyCap: 500 }] },
)

export const SendCreditsRequestSchema = strictObject(
  {
    credits: Type.Number({ minimum: 0.000_001, maximum: giftCreditsMax, ...sixDecimals }),
    ref: Type.Optional({
      ...RefSchema,
      description: 'Your own id of this request. The same ref never sends twice.',
    }),
  },
  { examples: [{ credits: 250 }] },
)
export const SendCreditsResponseSchema = Type.Object({
  sent: Type.Number(),
  agent: Type.Object({ handle: Type.String(), credits: Type.Number() }),
  credits: Type.Number({ description: 'The new balance of the wallet.' }),
  ref: nullable(Type.String()),
})
export type SendCreditsResponse = Static<typeof SendCreditsResponseSchema>

const AgentKeySchema = namedObject('AgentKey', {
  prefix: Type.String(),
  name: nullable(Type.String()),
  created: TimeSchema,
})
export type AgentKey = Static<typeof AgentKeySchema>
export const AgentKeyListSchema = Type.Object({
  keys: Type.Array(AgentKeySchema),
  next: NextSchema,
})
export const ReleaseResponseSchema = Type.Object({
  handle: Type.String(),
  released: Type.Literal(true),
  note: Type.String(),
})
