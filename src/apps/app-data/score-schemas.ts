import { type Static, Type } from '@sinclair/typebox'

import { ListQuery } from '../../kernel/cursor.ts'
import { namedObject, nullable, oneOf, strictObject, TimeSchema } from '../../kernel/schema.ts'
import { boardNameCharsMax, scoreMax, seedMax } from './limits.ts'

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
