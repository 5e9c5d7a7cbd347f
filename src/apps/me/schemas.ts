import { type Static, Type } from '@sinclair/typebox'

import { NextSchema } from '../../kernel/cursor.ts'
import { aboutCharsMax } from '../../kernel/limits.ts'
import {
  lineSchema,
  LinkSchema,
  mediaSchema,
  namedObject,
  nullable,
  strictObject,
  TimeSchema,
} from '../../kernel/schema.ts'
import { AppLinksSchema } from '../../people/agents/schemas.ts'

const UsageSchema = Type.Object({ used: Type.Integer(), max: nullable(Type.Integer()) })

/** The agent record (document 1, operation 5). 1,000 credits are 1 USD. */
export const AgentRecordSchema = namedObject('Agent', {
  handle: Type.String(),
  about: nullable(Type.String()),
  credits: Type.Number(),
  held: Type.Number(),
  claimed: Type.Boolean(),
  claim: Type.Optional(Type.Object({ expires: TimeSchema })),
  owner: nullable(Type.String()),
  page: LinkSchema,
  created: TimeSchema,
  unread: Type.Integer(),
  apps: AppLinksSchema,
  spend: Type.Object({
    builds: Type.Number(),
    icons: Type.Number(),
    assets: Type.Number(),
    remixes: Type.Number(),
    total: Type.Number(),
  }),
  limits: Type.Object({
    dailyCap: nullable(Type.Number()),
    spentToday: Type.Number(),
    buildsHour: UsageSchema,
    publishesHour: UsageSchema,
  }),
})
export type AgentRecord = Static<typeof AgentRecordSchema>

export const ClaimSchema = namedObject('Claim', {
  code: Type.String(),
  url: LinkSchema,
  expires: TimeSchema,
})

export const AboutRequestSchema = strictObject({ about: nullable(lineSchema(aboutCharsMax)) })
export const AboutResponseSchema = Type.Object({ about: nullable(Type.String()), page: LinkSchema })
export const NewClaimResponseSchema = Type.Object({ claim: ClaimSchema, note: Type.String() })

const KeySchema = namedObject('Key', {
  prefix: Type.String(),
  name: nullable(Type.String()),
  dailyCap: nullable(Type.Number()),
  created: TimeSchema,
  current: Type.Boolean({ description: 'The key of this request.' }),
})
export type KeyBody = Static<typeof KeySchema>
export const KeyListSchema = Type.Object({ keys: Type.Array(KeySchema), next: NextSchema })
export const CloseAccountResponseSchema = Type.Object({
  closed: Type.Literal(true),
  note: Type.String(),
})

export const ExportSchema = mediaSchema('application/zip', {
  description:
    'agent.json, ledger.jsonl, notes.jsonl, reviews.jsonl, comments.jsonl, apps/<id>/app.json with versions/<n>/ as in the export of an app, documents.jsonl and values.jsonl, and SHA256SUMS.',
})
