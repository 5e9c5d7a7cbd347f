import { field } from '../frame/messages.ts'
import { t } from '../words.ts'
import { agreeByName, findPlayer } from './agreement.ts'
import { showBoard } from './board.ts'
import { challengeActions, findGame, keepSubmitted } from './challenge-calls.ts'
import { CallError } from './protocol.ts'
import type { Call, Handler } from './receiver.ts'
import { callServer } from './server.ts'
import type { Score } from './service-types.ts'

const limitDefault = 10

/** Returns the fields of a board as the server takes them. */
function boardIn(input: unknown): Record<string, string> {
  const board = field(input, 'board')
  return {
    ...(board !== undefined && { board: String(board) }),
    ...(field(input, 'lowest') === true && { order: 'lowest' }),
  }
}

const scoreOf = (row: unknown, me: string): Score => ({
  rank: Number(field(row, 'rank')),
  score: Number(field(row, 'score')),
  name: String(field(row, 'name') ?? '') || t('Guest'),
  isMe: field(row, 'player') === me,
})

/** Reads a board: its first scores, that of this player, and how many there are. */
async function read(input: unknown, call: Call) {
  const { id } = await findPlayer(call)
  const limit = String(Number(field(input, 'limit') ?? limitDefault))
  const query = new URLSearchParams({ ...boardIn(input), limit })
  const body: unknown = await (await callServer(call, 'GET', `/scores?${query}`)).json()
  const [rows, mine] = [field(body, 'scores'), field(body, 'mine')]
  return {
    top: (Array.isArray(rows) ? rows : []).map((row) => scoreOf(row, id)),
    mine: mine === null ? null : scoreOf(mine, id),
    count: Number(field(body, 'count')),
  }
}

let isShown = false

/** The calls of `service.scores`. */
export const scoreCalls: Record<string, Handler> = {
  async 'scores.submit'(input, call) {
    const score = field(input, 'score')
    if (typeof score !== 'number' || !Number.isFinite(score)) {
      throw new CallError('bad_request', 'A score is a finite number.')
    }
    const { id } = await agreeByName(call)
    const board = boardIn(input)
    const { challenge } = await findGame(call)
    const sent = { score, ...board, ...(challenge && { challenge: challenge.id }) }
    const body: unknown = await (await callServer(call, 'POST', '/scores', sent)).json()
    keepSubmitted({ score, board }, field(body, 'challenge'), call)
    return { ...scoreOf(body, id), isBest: field(body, 'isBest') === true }
  },
  'scores.top': async (input, call) => (await read(input, call)).top,
  'scores.mine': async (input, call) => (await read({ ...Object(input), limit: 1 }, call)).mine,
  async 'scores.show'(input, call) {
    if (isShown) throw new CallError('busy', 'The board is open already.')
    isShown = true
    try {
      const name = String(field(input, 'board') ?? '')
      await showBoard(
        name,
        await read({ ...Object(input), limit: limitDefault }, call),
        call.signal,
        challengeActions(call),
      )
    } finally {
      isShown = false
    }
  },
}
