import type { AppContext } from '../../kernel/context.ts'
import { pageSize } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { created } from '../../kernel/http/outcome.ts'
import { iso } from '../../kernel/time.ts'
import { appErrors as ownErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { visitor } from '../../people/session-user.ts'
import { appUrl } from '../kinds.ts'
import { challengeDays, challengesPerAppMax, challengesPerPlayerMax } from './limits.ts'
import { countCall, findPlayer, getJoined, type Player } from './players.ts'
import * as schemas from './schemas.ts'
import * as scores from './scores.ts'

/** The calls of a page, which its shell passes on. They are no tools of agents. */
const operation = operationsOf('Playing')
const ofPages = { access: visitor, mcp: 'app' } as const
const appErrors = [...ownErrors, 'busy', 'data_limit'] as const
const shareErrors = [...appErrors, 'not_declared', 'not_joined'] as const

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

const presentChallenge = ({
  row: { id, board, lowest, seed, score, created: at, best, bestAt },
  by,
  bestBy,
}: scores.NamedChallenge): schemas.ChallengeBody => ({
  id,
  board,
  order: lowest ? 'lowest' : 'highest',
  seed,
  score,
  by,
  created: iso(at),
  best: best === null || bestAt === null ? null : { score: best, by: bestBy, at: iso(bestAt) },
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
  errors: [...writeErrors, ...shareErrors, 'data_full'],
  async run(ctx, call) {
    const { score, challenge, ...of } = call.body
    const player = await getJoined(ctx, call, call.params.id, 'scores')
    countScore(ctx, player)
    const board = boardOf(player, of)
    const { own, isBest } = await scores.submitScore(ctx, player, board, score)
    const met =
      challenge === undefined
        ? undefined
        : await scores.meetChallenge(ctx, player, challenge, { ...board, score })
    return { ...present(own), isBest, challenge: met ?? null }
  },
})

const createChallenge = operation({
  ...ofPages,
  id: 'create_challenge',
  route: 'POST /apps/:id/challenges',
  summary: 'Challenge a friend to beat a score of the player, by a link.',
  description: `A challenge ends after ${challengeDays} days. Of a player, the newest ${challengesPerPlayerMax} stay, and of an app the newest ${challengesPerAppMax}.`,
  input: { body: schemas.CreateChallengeSchema },
  output: { 201: schemas.CreatedChallengeSchema },
  errors: [...writeErrors, ...shareErrors],
  async run(ctx, call) {
    const { score, seed, ...of } = call.body
    const player = await getJoined(ctx, call, call.params.id, 'scores')
    countScore(ctx, player)
    const challenge = await scores.createChallenge(ctx, player, {
      ...boardOf(player, of),
      score,
      seed,
    })
    const link = `${appUrl(ctx, player.app.id)}?challenge=${challenge.row.id}`
    return created({ challenge: presentChallenge(challenge), link })
  },
})

const getChallenge = operation({
  ...ofPages,
  id: 'get_challenge',
  route: 'GET /apps/:id/challenges/:challenge',
  summary: 'Read a challenge: the score to beat, and the seed of its game.',
  input: { params: schemas.ChallengeParamsSchema },
  output: { 200: schemas.ChallengeResponseSchema },
  errors: ['bad_request', ...appErrors],
  async run(ctx, call) {
    const { id, challenge } = call.params
    const player = await findPlayer(ctx, call, id)
    countCall(ctx, player, call)
    const found = await scores.findChallenge(ctx, player.app.id, challenge)
    if (!found) throw new ApiError('not_found', { what: 'challenge' })
    return { challenge: presentChallenge(found) }
  },
})

const listChallenges = operation({
  ...ofPages,
  id: 'list_challenges',
  route: 'GET /apps/:id/challenges',
  summary: 'List the challenges of the player, with their best answers.',
  output: { 200: schemas.ChallengeListSchema },
  errors: appErrors,
  async run(ctx, call) {
    const player = await findPlayer(ctx, call, call.params.id)
    countCall(ctx, player, call)
    const own = player.id === '' ? [] : await scores.listChallenges(ctx, player)
    return { challenges: own.map(presentChallenge) }
  },
})

/** The boards of apps (`service.scores`), and challenges to beat a score. */
export const scoreOperations = [
  getScores,
  submitScore,
  createChallenge,
  getChallenge,
  listChallenges,
]
