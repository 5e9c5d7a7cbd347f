import type { Bridge } from './bridge.ts'

/** A board of the app. */
export interface BoardOptions {
  /** Its name: "main" by default. */
  board?: string
  /** The lowest score is the first, such as a time. */
  lowest?: boolean
}

/** A score on a board. */
export interface Score {
  /** 1 is the first. */
  rank: number
  score: number
  /** The name that the player gave the app. */
  name: string
  isMe: boolean
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
    /** Shows the board above the app. Resolves when the player closes it. */
    show: (options?: BoardOptions): Promise<void> =>
      call<void>('scores.show', { ...options }).result,
  })
