import type { Bridge } from './bridge.ts'
import type { BoardOptions, Challenge, Score } from './service-types.ts'

/** The game of this page: `service.seed` and `service.challenge`. */
interface Game {
  seed: number
  challenge: Challenge | null
}

/** The seed of the game, and the score to beat, read with the first use. */
export function openGame(call: Bridge) {
  let game: Promise<Game> | undefined
  const read = (): Promise<Game> => {
    const found = (game ??= call<Game>('scores.game', {}).result)
    found.catch(() => void (game = undefined))
    return found
  }
  return {
    /** A number of 32 bits: a new one for each page, and in a challenge that of the friend. */
    get seed(): Promise<number> {
      return read().then(({ seed }) => seed)
    },
    /** The score to beat; null without a challenge. */
    get challenge(): Promise<Challenge | null> {
      return read().then(({ challenge }) => challenge)
    },
  }
}

/** `service.scores`: boards with the best score of each player. */
export const openScores = (call: Bridge) =>
  Object.freeze({
    /**
     * Submits a score, of which the best one stays. The player is asked once for a name. Returns
     * that score with its rank; `isBest` says whether it is this one.
     */
    submit: (score: number, options?: BoardOptions): Promise<Score & { isBest: boolean }> =>
      call<Score & { isBest: boolean }>('scores.submit', { score, ...options }).result,
    /** Returns the first scores. */
    top: (options?: BoardOptions & { limit?: number }): Promise<Score[]> =>
      call<Score[]>('scores.top', { ...options }).result,
    /** Returns the score of this player; null without one. */
    mine: (options?: BoardOptions): Promise<Score | null> =>
      call<Score | null>('scores.mine', { ...options }).result,
    /**
     * Shows the player a link with which a friend plays the same seed, with the last submitted
     * score to beat. Throws `no_score` before the first one.
     */
    challenge: (): Promise<{ url: string }> => call<{ url: string }>('scores.challenge', {}).result,
    /** Shows the board above the app. Resolves when the player closes it. */
    show: (options?: BoardOptions): Promise<void> =>
      call<void>('scores.show', { ...options }).result,
  })
