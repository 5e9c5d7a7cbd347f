import { field, text } from '../frame/messages.ts'
import { formatNumber, t } from '../words.ts'
import { agreeByName } from './agreement.ts'
import { create } from './ask.ts'
import { appTitle, showDialog } from './board.ts'
import { CallError } from './protocol.ts'
import type { Call, Handler } from './receiver.ts'
import { callServer } from './server.ts'
import type { Challenge } from './service-types.ts'

/** The game of this page: its seed, and the score to beat where a link has one. */
interface Game {
  seed: number
  challenge: (Challenge & { id: string }) | null
}

/** A score that this page has submitted. A friend gets the last one to beat. */
interface Submitted {
  score: number
  board: Record<string, string>
}

let game: Promise<Game> | undefined
let last: Submitted | undefined
let lastResult = ''
let news: Promise<void> | undefined

const idInLink = /^[A-Za-z0-9]{12}$/
const forever = new AbortController().signal
const shown = (value: unknown): string => formatNumber(Number(value))
const nameIn = (row: unknown): string => String(field(row, 'by') ?? '') || t('Guest')

async function readGame({ app }: Pick<Call, 'app'>): Promise<Game> {
  const none = { seed: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0, challenge: null }
  const id = new URLSearchParams(location.search).get('challenge') ?? ''
  if (!idInLink.test(id)) return none
  try {
    const response = await callServer({ app, signal: forever }, 'GET', `/challenges/${id}`)
    const row = field(await response.json(), 'challenge')
    const [seed, score] = [Number(field(row, 'seed')), Number(field(row, 'score'))]
    const [board, lowest] = [String(field(row, 'board')), field(row, 'order') === 'lowest']
    return { seed, challenge: { id, seed, score, by: nameIn(row), board, lowest } }
  } catch (error) {
    if (error instanceof CallError && error.code === 'not_found') return none
    throw error
  }
}

/** Returns the game of this page. A link has the one of the friend who sent it. */
export function findGame(call: Pick<Call, 'app'>): Promise<Game> {
  const found = (game ??= readGame(call))
  found.catch(() => void (game = undefined))
  return found
}

/** Keeps a score for a challenge, and shows who won where it is for one. */
export function keepSubmitted(submitted: Submitted, outcome: unknown, call: Call): void {
  last = submitted
  const result = String(field(outcome, 'result') ?? '')
  if (!Object.hasOwn(results, result)) return void showNews(call)
  // A page may submit often.
  if (result === lastResult) return
  lastResult = result
  const { app } = call
  const rows = [
    [t('You'), submitted.score],
    [nameIn(outcome), field(outcome, 'score')],
  ] as const
  void showDialog(results[result] ?? '', [tableOf(rows)], forever, [challengeButton({ app })])
}

const results: Record<string, string> = {
  won: t('You won the challenge!'),
  lost: t('Not beaten yet. Try again!'),
  tied: t('A tie!'),
}

const tableOf = (rows: readonly (readonly [name: string, score: unknown])[]): HTMLElement => {
  const lines = rows.map(([name, score]) =>
    create('tr', [create('td', [create('bdi', [name])]), create('td', [shown(score)])]),
  )
  return create('table', [create('tbody', lines)])
}

/** Returns the buttons that a board has for a player with a score of this page. */
export const challengeActions = (call: Pick<Call, 'app'>): HTMLElement[] =>
  last ? [challengeButton(call)] : []

function challengeButton(call: Pick<Call, 'app'>): HTMLElement {
  const button = create('button', [t('Challenge a friend')], { className: 'second' })
  button.addEventListener('click', () => {
    createLink({ ...call, signal: forever }).catch(({ message }: Error) =>
      showDialog(t('No challenge'), [create('p', [message])], forever),
    )
  })
  return button
}

/** Creates the link of a challenge, and shows it. */
async function createLink(call: Pick<Call, 'app' | 'signal'>): Promise<string> {
  if (!last) {
    throw new CallError('no_score', 'Submit a score first: a friend gets the last one to beat.')
  }
  const { score, board } = last
  await agreeByName(call)
  const { seed } = await findGame(call)
  const response = await callServer(call, 'POST', '/challenges', { score, seed, ...board })
  const url = String(field(await response.json(), 'link'))
  const line = create('input', [], { readOnly: true, value: url })
  line.setAttribute('aria-label', t('Link'))
  line.addEventListener('focus', () => line.select())
  const copy = create('button', [t('Copy link')], { type: 'button', className: 'second' })
  copy.addEventListener('click', () => {
    line.select()
    // The policy of this page blocks the clipboard API.
    if (document.execCommand('copy')) copy.textContent = t('Copied')
  })
  const words = t('Beat {score} in {title}', { score: shown(score), title: appTitle() })
  const send = create('button', [t('Share')], { type: 'button', className: 'second' })
  send.addEventListener(
    'click',
    () => void navigator.share({ text: words, url }).catch(() => undefined),
  )
  const actions = 'share' in navigator ? [send, copy] : [copy]
  const about = t(
    'Your friend plays the same game, with {score} to beat. The link works for 30 days. The best score is shown here when you come back.',
    { score: shown(score) },
  )
  void showDialog(t('Challenge a friend'), [create('p', [about]), line], forever, actions)
  return url
}

const seenKey = (app: string): string => `berth:challenges/${app}`

/** Shows, once, the newest score of a friend for a challenge of this player. */
const showNews = (call: Pick<Call, 'app'>): Promise<void> =>
  (news ??= showNewest(call).catch(() => undefined))

async function showNewest({ app }: Pick<Call, 'app'>): Promise<void> {
  const found = await callServer({ app, signal: forever }, 'GET', '/challenges')
  const rows = field(await found.json(), 'challenges')
  const newest = (Array.isArray(rows) ? rows : [])
    .map((row) => ({ row, best: field(row, 'best'), at: text(field(row, 'best'), 'at', 40) }))
    .filter(({ at }) => at !== '')
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))[0]
  if (!newest || newest.at <= (localStorage.getItem(seenKey(app)) ?? '')) return
  localStorage.setItem(seenKey(app), newest.at)
  const name = nameIn(newest.best)
  const scores = [
    [t('You'), field(newest.row, 'score')],
    [name, field(newest.best, 'score')],
  ] as const
  await showDialog(t('{name} played your challenge', { name }), [tableOf(scores)], forever)
}

/** The calls of challenges. */
export const challengeCalls: Record<string, Handler> = {
  async 'scores.game'(_, call) {
    void showNews(call)
    const { seed, challenge } = await findGame(call)
    if (!challenge) return { seed, challenge }
    const { id: _id, ...known } = challenge
    return { seed, challenge: known }
  },
  'scores.challenge': async (_, call) => ({ url: await createLink(call) }),
}
