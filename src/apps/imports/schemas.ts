import { type Static, Type } from '@sinclair/typebox'

import {
  aboutCharsMax,
  buildPromptCharsMax,
  descriptionCharsMax,
  remixPriceCreditsMax,
  titleCharsMax,
  versionsPerAppMax,
} from '../../kernel/limits.ts'
import {
  IdSchema,
  lineSchema,
  nullable,
  oneOf,
  textSchema,
  TimeSchema,
} from '../../kernel/schema.ts'
import { noteKinds } from '../../people/notifications/kinds.ts'
import { handlePattern } from '../../people/profiles/profiles.ts'
import { nameCharsMax } from '../folders/limits.ts'
import { audiences, kinds, shelfNames } from '../kinds.ts'
import { requests } from '../packs/publish.ts'
import { UseSchema } from '../uses/uses.ts'

/** The format of the archive of an agent, in agent.json. Another one cannot be imported. */
export const archiveFormat = 2

/** The ledgers of the servers on which the agent was before. */
export const earlierLedgerFile = 'earlier-ledger.jsonl'

/** agent.json */
export const AgentFileSchema = Type.Object({
  format: Type.Literal(archiveFormat),
  server: Type.String({ minLength: 1, maxLength: 300 }),
  exported: TimeSchema,
  agent: Type.Object({
    id: IdSchema,
    handle: Type.String({ maxLength: 30 }),
    about: nullable(lineSchema(aboutCharsMax)),
    created: TimeSchema,
    credits: Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  }),
})
export type AgentFile = Static<typeof AgentFileSchema>

/** apps/<id>/app.json */
export const ItemFileSchema = Type.Object({
  id: IdSchema,
  maker: Type.String(),
  kind: oneOf(kinds),
  name: nullable(Type.String({ maxLength: nameCharsMax })),
  title: lineSchema(titleCharsMax, { minLength: 1 }),
  description: textSchema(descriptionCharsMax),
  shelf: oneOf(shelfNames),
  version: Type.Integer({ minimum: 0, maximum: versionsPerAppMax }),
  store: Type.Boolean(),
  listedVersion: nullable(Type.Integer({ minimum: 1, maximum: versionsPerAppMax })),
  listedAt: nullable(TimeSchema),
  remix: oneOf(['off', 'free', 'price']),
  priceRemix: nullable(Type.Integer({ minimum: 1, maximum: remixPriceCreditsMax })),
  comments: Type.Boolean(),
  audience: oneOf(audiences),
  expires: nullable(TimeSchema),
  live: Type.Boolean(),
  embeds: Type.Boolean(),
  iconGiven: Type.Boolean(),
  remixOf: nullable(
    Type.Object({
      id: IdSchema,
      title: lineSchema(titleCharsMax),
      maker: Type.String({ pattern: `^@${handlePattern.slice(1)}` }),
    }),
  ),
  state: oneOf(['live', 'building', 'taken_down', 'closed']),
  held: Type.Optional(Type.Object({ reason: Type.String({ maxLength: 1_000 }), at: TimeSchema })),
  created: TimeSchema,
  updated: TimeSchema,
})
export type ItemFile = Static<typeof ItemFileSchema>

const { steps, share } = requests.framework.version.properties

/** apps/<id>/versions/<n>/version.json */
export const VersionFileSchema = Type.Object({
  version: Type.Integer({ minimum: 1, maximum: versionsPerAppMax }),
  created: TimeSchema,
  via: oneOf(['html', 'files', 'build', 'remix', 'restore']),
  note: textSchema(buildPromptCharsMax),
  page: nullable(Type.String({ maxLength: 240 })),
  declared: Type.Optional(Type.Array(UseSchema, { maxItems: 50 })),
  steps,
  share,
  assets: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: Type.String(),
      what: nullable(textSchema(buildPromptCharsMax)),
      seed: nullable(Type.Integer()),
      maker: Type.String({ maxLength: 200 }),
      created: TimeSchema,
    }),
  ),
})

/** A line of documents.jsonl, values.jsonl or scores.jsonl. */
export const RecordLineSchema = Type.Object({
  name: Type.String({ minLength: 1 }),
  author: Type.String({ pattern: '^[A-Za-z0-9_-]{1,40}$' }),
  authorName: nullable(Type.String()),
  own: Type.Optional(Type.Boolean()),
  value: Type.Unknown(),
  updated: TimeSchema,
})

/** A line of notes.jsonl. */
export const NoteLineSchema = Type.Object({
  kind: oneOf(noteKinds),
  at: TimeSchema,
  read: Type.Boolean(),
  item: Type.Optional(Type.String()),
  text: textSchema(10_000),
  data: Type.Record(Type.String(), Type.Unknown()),
})

/** A line of reviews.jsonl. */
export const ReviewLineSchema = Type.Object({
  id: IdSchema,
  item: IdSchema,
  author: Type.String(),
  stars: Type.Integer({ minimum: 1, maximum: 5 }),
  text: Type.String(),
  version: Type.Integer({ minimum: 1 }),
  created: TimeSchema,
  updated: TimeSchema,
})

/** A line of comments.jsonl. */
export const CommentLineSchema = Type.Object({
  id: IdSchema,
  item: IdSchema,
  author: Type.String(),
  text: Type.String(),
  replyTo: nullable(IdSchema),
  created: TimeSchema,
})
