import { type Static, Type } from '@sinclair/typebox'

import { ListQuery, NextSchema } from '../../kernel/http/list-query.ts'
import {
  lineSchema,
  namedObject,
  nullable,
  oneOf,
  strictObject,
  TimeSchema,
} from '../../kernel/schema.ts'
import { SharingUseSchema } from '../uses/uses.ts'
import {
  boardNameCharsMax,
  conditionsMax,
  conditionValuesMax,
  documentsPerAppMax,
  leaseHolderCharsMax,
  leaseMsMax,
  ordersMax,
  pathCharsMax,
  playerNameCharsMax,
  scoreMax,
  seedMax,
  valueKeyCharsMax,
} from './limits.ts'
import { operators } from './query.ts'

const PlayerSchema = namedObject('Player', {
  id: nullable(
    Type.String({
      description:
        'An id that only this app has for the player. Null for a guest before the first join.',
    }),
  ),
  signedIn: Type.Boolean(),
  joined: Type.Boolean({ description: 'The player agreed to share data with this app.' }),
  agreed: Type.Array(SharingUseSchema, {
    description: 'The parts of `service` that the player agreed to.',
  }),
  declared: Type.Array(SharingUseSchema, { description: 'The parts that the app declares.' }),
  undeclared: Type.Array(SharingUseSchema, {
    description:
      'Other parts that the app may ask the player for. A page that asks for credentials has none.',
  }),
  name: nullable(Type.String({ description: 'The name that the player gave this app.' })),
})
export const PlayerResponseSchema = Type.Object({ player: PlayerSchema })

export const JoinSchema = strictObject(
  {
    name: Type.Optional(lineSchema(playerNameCharsMax, { minLength: 1 })),
    uses: Type.Optional(
      Type.Array(SharingUseSchema, {
        uniqueItems: true,
        description:
          'The parts that the player agreed to: those that the app declares, by default.',
      }),
    ),
  },
  { examples: [{ name: 'Olga' }] },
)

const scope = oneOf(['own', 'shared'])
const key = Type.String({ minLength: 1, maxLength: valueKeyCharsMax })

export const ScopeParamsSchema = Type.Object({ id: Type.String(), scope })
export const KeyQuerySchema = Type.Object({ key })
export const PrefixQuerySchema = Type.Object({
  prefix: Type.Optional(Type.String({ maxLength: valueKeyCharsMax })),
})
export const SetValueSchema = strictObject(
  { key, value: Type.Unknown({ description: 'Any JSON value.' }) },
  { examples: [{ key: 'level', value: 3 }] },
)
export const KeyListSchema = Type.Object({ keys: Type.Array(Type.String()) })
export const ValueSchema = Type.Object({
  key: Type.String(),
  value: Type.Unknown(),
  author: nullable(Type.String({ description: 'The player who wrote a shared value.' })),
  updated: TimeSchema,
})
export const StoredValueSchema = Type.Object({ key: Type.String() })
export const DeletedSchema = Type.Object({
  deleted: Type.Boolean({ description: 'There was one.' }),
})

/** Simple names, in place of all that a path may have: clients can make paths of them. */
const name = '[A-Za-z0-9_-]{1,30}'
const path = Type.String({
  maxLength: pathCharsMax,
  described: { pattern: `^${name}/${name}(/${name}/${name}){0,3}$` },
})
const collection = Type.String({
  maxLength: pathCharsMax,
  described: { pattern: `^${name}(/${name}/${name}){0,3}$` },
})
const data = Type.Record(Type.String(), Type.Unknown(), { description: 'A JSON object.' })
const own = Type.Optional(Type.Boolean({ description: 'Only its author may change it.' }))
const DocumentSchema = namedObject('Document', {
  id: Type.String(),
  path: Type.String(),
  data,
  author: Type.String({ description: 'The player who created it.' }),
  version: Type.Integer({ description: 'Grows with each change of the data of the app.' }),
  created: TimeSchema,
  updated: TimeSchema,
})
export type DocumentBody = Static<typeof DocumentSchema>

export const PathQuerySchema = Type.Object({ path })
export const SetDocumentSchema = strictObject(
  { path, data, own },
  { examples: [{ path: 'games/1', data: { turn: 'x' } }] },
)
export const AddDocumentSchema = strictObject(
  { collection, data, own },
  { examples: [{ collection: 'messages', data: { text: 'Hi' } }] },
)
export const UpdateDocumentSchema = strictObject(
  {
    path,
    data,
    create: Type.Optional(Type.Boolean({ description: 'A missing document begins empty.' })),
  },
  { examples: [{ path: 'games/1', data: { moves: { $add: 1 } } }] },
)
export const LeaseSchema = strictObject(
  {
    path,
    holder: Type.String({ minLength: 1, maxLength: leaseHolderCharsMax }),
    ttlMs: Type.Integer({ minimum: 0, maximum: leaseMsMax }),
    data: Type.Optional(data),
  },
  { examples: [{ path: 'games/1', holder: 'tab 1', ttlMs: 5_000 }] },
)

const field = Type.String({ minLength: 1, maxLength: 200 })
export const QuerySchema = strictObject(
  {
    collection,
    where: Type.Optional(
      Type.Array(strictObject({ field, op: oneOf(operators), value: Type.Unknown() }), {
        maxItems: conditionsMax,
      }),
    ),
    orderBy: Type.Optional(
      Type.Array(strictObject({ field, direction: Type.Optional(oneOf(['asc', 'desc'])) }), {
        maxItems: ordersMax,
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: documentsPerAppMax })),
  },
  {
    description: `A list of "in", "not-in" and "array-contains-any" has at most ${conditionValuesMax} values.`,
    examples: [{ collection: 'games', where: [{ field: 'open', op: '==', value: true }] }],
  },
)
export type QueryRequest = Static<typeof QuerySchema>

export const DocumentResponseSchema = Type.Object({ document: DocumentSchema })
export const WrittenSchema = Type.Object({ written: Type.Integer() })
export const FoundDocumentSchema = Type.Object({ document: nullable(DocumentSchema) })
export const DocumentListSchema = Type.Object({
  documents: Type.Array(DocumentSchema),
  version: Type.Integer(),
})
export const LeaseResponseSchema = Type.Object({
  acquired: Type.Boolean({ description: 'False while another holder has the lease.' }),
  until: nullable(TimeSchema),
  document: DocumentSchema,
})

/** Shared data and uploads, scores, challenges, and for each player what is private. */
const recordKinds = ['document', 'value', 'score', 'challenge', 'upload', 'personal'] as const

/** A record that players keep in an app, for its maker. */
const RecordSchema = namedObject('DataRecord', {
  kind: oneOf(recordKinds),
  name: Type.String({
    description:
      'The path of a document, the key of a value, the board of a score, the name of an uploaded file, or the id of a challenge or a player.',
  }),
  author: Type.String(),
  authorName: nullable(Type.String({ description: 'The name that the author gave the app.' })),
  own: Type.Optional(Type.Boolean({ description: 'Only its author may change it.' })),
  value: Type.Unknown({
    description:
      'A data URL for an uploaded file. Null for personal data, which only its player reads.',
  }),
  bytes: Type.Integer(),
  updated: TimeSchema,
})
export type RecordBody = Static<typeof RecordSchema>
export const RecordListSchema = Type.Object({
  records: Type.Array(RecordSchema),
  next: NextSchema,
})
export const RecordQuerySchema = Type.Object({
  ...ListQuery.properties,
  kind: Type.Optional(oneOf(recordKinds)),
})
export type RecordQuery = Static<typeof RecordQuerySchema>
export const DeleteRecordsSchema = strictObject(
  {
    kind: oneOf(['author', 'board', ...recordKinds]),
    name: Type.String({
      minLength: 1,
      maxLength: valueKeyCharsMax,
      description:
        'The id of a player or a challenge, the path of a document, the key of a value, the name of an uploaded file, a board, or "board/player" of a score.',
    }),
  },
  { examples: [{ kind: 'author', name: 'pBp2GhVnRr0cXk1sQm7e' }] },
)
export type DeleteRecordsRequest = Static<typeof DeleteRecordsSchema>
export const DeletedRecordsSchema = Type.Object({ deleted: Type.Integer() })

const board = Type.Optional(
  Type.String({
    // No slash: records name a score by board and player.
    pattern: `^[A-Za-z0-9 _.-]{1,${boardNameCharsMax}}$`,
    description: 'Name of a board of the app; "main" by default.',
  }),
)
/** Which score is the first: the highest by default, the lowest for a time. */
const order = Type.Optional(oneOf(['highest', 'lowest']))

const BoardQuerySchema = Type.Object({ board, order })
export type BoardQuery = Static<typeof BoardQuerySchema>

export const TopQuerySchema = Type.Object({
  board,
  order,
  limit: ListQuery.properties.limit,
})

const score = Type.Number({ minimum: -scoreMax, maximum: scoreMax })
export const SubmitScoreSchema = strictObject(
  {
    score,
    board,
    order,
    challenge: Type.Optional(
      Type.String({ maxLength: 40, description: 'The challenge that this score is for.' }),
    ),
  },
  { examples: [{ score: 1_250, board: 'main' }] },
)

export const CreateChallengeSchema = strictObject(
  {
    score,
    board,
    order,
    seed: Type.Integer({ minimum: 0, maximum: seedMax, description: 'The seed of the game.' }),
  },
  { examples: [{ score: 1_250, seed: 7_315_662 }] },
)

const fields = {
  rank: Type.Integer({ description: '1 is the first.' }),
  player: Type.String(),
  name: nullable(Type.String({ description: 'The name that the player gave this app.' })),
  score: Type.Number(),
  at: TimeSchema,
}
const ScoreSchema = namedObject('Score', fields)
export type ScoreBody = Static<typeof ScoreSchema>

export const ScoreListSchema = Type.Object({
  scores: Type.Array(ScoreSchema),
  mine: nullable(ScoreSchema),
  count: Type.Integer({ description: 'Players on this board.' }),
})

/** A score to beat, as its friend sees it. */
const ChallengeSchema = namedObject('Challenge', {
  id: Type.String(),
  board: Type.String(),
  order: oneOf(['highest', 'lowest']),
  seed: Type.Integer(),
  score: Type.Number(),
  by: nullable(Type.String({ description: 'The name of the player who has this score.' })),
  created: TimeSchema,
  best: nullable(
    Type.Object({
      score: Type.Number({ description: 'The best score of another player.' }),
      by: nullable(Type.String()),
      at: TimeSchema,
    }),
  ),
})
export type ChallengeBody = Static<typeof ChallengeSchema>
export const ChallengeResponseSchema = Type.Object({ challenge: ChallengeSchema })
export const CreatedChallengeSchema = Type.Object({
  challenge: ChallengeSchema,
  link: Type.String({ description: 'The link for a friend.' }),
})
export const ChallengeListSchema = Type.Object({ challenges: Type.Array(ChallengeSchema) })
export const ChallengeParamsSchema = Type.Object({ id: Type.String(), challenge: Type.String() })

export const SubmittedScoreSchema = Type.Object({
  ...fields,
  challenge: nullable(
    Type.Object(
      { by: nullable(Type.String()), score: Type.Number(), result: oneOf(['won', 'lost', 'tied']) },
      { description: 'How this score does against the challenge; null without one.' },
    ),
  ),
  isBest: Type.Boolean({ description: 'The score is the first or a better one of the player.' }),
})
