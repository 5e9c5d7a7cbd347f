import type { AppContext } from '../../kernel/context.ts'
import { pageSize } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { iso } from '../../kernel/time.ts'
import { appErrors as ownErrors, operation, writeErrors } from '../../people/operation.ts'
import { visitor } from '../../people/session-user.ts'
import { checkUse, countCall, findPlayer, getJoined, type Player } from './players.ts'
import * as schemas from './score-schemas.ts'
import * as scores from './scores.ts'

/** The calls of a page, which its shell passes on. They are no tools of agents. */
const ofPages = { tag: 'Playing', access: visitor, mcp: 'app' } as const
const appErrors = [...ownErrors, 'busy', 'not_declared', 'data_limit'] as const

const boardOf = ({ app }: Player, { board = 'main', order }: schemas.BoardQuery): scores.Board => ({
  app: app.id,
  board,
  lowest: order === 'lowest',
})

const present = ({ rank, player, name, score, at }: scores.PlacedScore): schemas.ScoreBody => ({
  rank,
  player,
  name,
  score,
  at: iso(at),
})

/** Counts a submitted score. Throws `data_limit`. */
function countScore({ state }: AppContext, { app, id }: Player): void {
  const limit = state.limits.scores.takeOne(`${app.id} ${id}`)
  if (limit) throw new ApiError('data_limit', limit)
}

const getScores = operation({
  ...ofPages,
  id: 'get_scores',
  route: 'GET /apps/:id/scores',
  summary: 'Read the board of an app: its first scores, and that of the player.',
  description: 'Of equal scores, the earlier one is before.',
  input: { query: schemas.TopQuerySchema },
  output: { 200: schemas.ScoreListSchema },
  errors: ['bad_request', ...appErrors],
  async run(ctx, call) {
    const { query } = call
    const player = await findPlayer(ctx, call, call.params.id)
    checkUse(player, 'scores')
    countCall(ctx, player, call)
    const board = boardOf(player, query)
    const [top, own, count] = await Promise.all([
      scores.listTop(ctx, board, pageSize(query.limit)),
      player.id === '' ? undefined : scores.findOwn(ctx, board, player),
      scores.countScores(ctx, board),
    ])
    return { scores: top.map(present), mine: own ? present(own) : null, count }
  },
})

const submitScore = operation({
  ...ofPages,
  id: 'submit_score',
  route: 'POST /apps/:id/scores',
  summary: 'Submit a score of the player. The best one stays.',
  input: { body: schemas.SubmitScoreSchema },
  output: { 200: schemas.SubmittedScoreSchema },
  errors: [...writeErrors, ...appErrors, 'not_joined', 'data_full'],
  async run(ctx, call) {
    const { score, ...of } = call.body
    const player = await getJoined(ctx, call, call.params.id, 'scores')
    countScore(ctx, player)
    const { own, isBest } = await scores.submitScore(ctx, player, boardOf(player, of), score)
    return { ...present(own), isBest }
  },
})

/** The boards of apps (`service.scores`). */
export const scoreOperations = [getScores, submitScore]
