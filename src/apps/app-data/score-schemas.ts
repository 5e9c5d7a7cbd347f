import { type Static, Type } from '@sinclair/typebox'

import { ListQuery } from '../../kernel/http/list-query.ts'
import { nullable, oneOf, TimeSchema } from '../../kernel/schema.ts'
import { boardNameCharsMax, scoreMax } from './limits.ts'

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

export const SubmitScoreSchema = Type.Object(
  { score: Type.Number({ minimum: -scoreMax, maximum: scoreMax }), board, order },
  { additionalProperties: false, examples: [{ score: 1_250, board: 'main' }] },
)

const fields = {
  rank: Type.Integer({ description: '1 is the first.' }),
  player: Type.String(),
  name: nullable(Type.String({ description: 'The name that the player gave this app.' })),
  score: Type.Number(),
  at: TimeSchema,
}
const ScoreSchema = Type.Object(fields, { title: 'Score' })
export type ScoreBody = Static<typeof ScoreSchema>

export const ScoreListSchema = Type.Object({
  scores: Type.Array(ScoreSchema),
  mine: nullable(ScoreSchema),
  count: Type.Integer({ description: 'Players on this board.' }),
})
export const SubmittedScoreSchema = Type.Object({
  ...fields,
  isBest: Type.Boolean({ description: 'The score is the first or a better one of the player.' }),
})
