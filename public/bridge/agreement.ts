import { field } from '../frame/messages.ts'
import { ask, create } from './ask.ts'
import { CallError } from './protocol.ts'
import type { Call } from './receiver.ts'
import { callServer } from './server.ts'

/** The player of this browser, as an app may know it. */
export interface Player {
  /** '' for a guest before the first agreement. */
  id: string
  isSignedIn: boolean
  hasJoined: boolean
  name: string
}

let known: Promise<Player> | undefined
let agreed: Promise<Player> | undefined
let named: Promise<Player> | undefined

/** Returns the maker of the app. A view of a chat learns of its app after it has begun. */
const makerOf = (): string => document.documentElement.dataset['maker'] ?? ''

/** As the server has it. */
const nameCharsMax = 40

const playerIn = (body: unknown): Player => {
  const player = field(body, 'player')
  return {
    id: String(field(player, 'id') ?? ''),
    isSignedIn: field(player, 'signedIn') === true,
    hasJoined: field(player, 'joined') === true,
    name: String(field(player, 'name') ?? ''),
  }
}

const read = async (call: Pick<Call, 'app'>): Promise<Player> =>
  playerIn(await (await callServer({ ...call, signal: forever }, 'GET', '/player')).json())

/** Several calls share one request, so that the end of one does not end it. */
const forever = new AbortController().signal

/** Returns the player. The server is asked once. */
export function findPlayer({ app }: Pick<Call, 'app'>): Promise<Player> {
  const found = (known ??= read({ app }))
  found.catch(() => void (known = undefined))
  return found
}

/**
 * Returns the player once they agreed that the app shares data. A bar of the shell asks, once for
 * each app. Throws `not_granted` when they do not agree.
 */
export function agree({ app }: Pick<Call, 'app'>): Promise<Player> {
  const agreement = (agreed ??= askPlayer(app))
  agreement.catch((error: unknown) => {
    // This holds until the page is opened again.
    if (!(error instanceof CallError) || error.code !== 'not_granted') agreed = undefined
  })
  return agreement
}

/**
 * Returns the player once they agreed that the app shares data, and gave it a name for its boards.
 * Throws `not_granted` when they do not agree.
 */
export function agreeByName({ app }: Pick<Call, 'app'>): Promise<Player> {
  const agreement = (named ??= askName(app))
  agreement.catch((error: unknown) => {
    if (!(error instanceof CallError) || error.code !== 'not_granted') named = undefined
  })
  return agreement
}

async function askName(app: string): Promise<Player> {
  const player = await findPlayer({ app })
  if (player.hasJoined && player.name !== '') return player
  const name = create('input', [], { maxLength: nameCharsMax })
  const label = create('label', ['Name', name])
  let text = `Show your scores on the board of this app? Its other players and its maker, ${makerOf()}, see them with this name.`
  for (;;) {
    const isAgreed = await ask({ text, fields: [label], yes: 'Show my scores', no: 'Not now' })
    if (!isAgreed) throw notGranted()
    try {
      agreed = join(app, name.value.trim())
      return await agreed
    } catch (error) {
      // The player may choose another name.
      if (!(error instanceof CallError) || error.code !== 'bad_request') throw error
      agreed = undefined
      text = error.message
    }
  }
}

const notGranted = (): CallError =>
  new CallError('not_granted', 'The player does not share data with this app.')

async function askPlayer(app: string): Promise<Player> {
  const player = await findPlayer({ app })
  if (player.hasJoined) return player
  const isAgreed = await ask({
    text: `This app shares what you do in it with its other players and its maker, ${makerOf()}. Do not enter anything private.`,
    yes: 'Share and play',
    no: 'Not now',
  })
  if (!isAgreed) throw notGranted()
  return join(app)
}

/** Sends that the player agreed, after a press of theirs. Returns the player. */
export async function join(app: string, name?: string): Promise<Player> {
  const body = name === undefined ? {} : { name }
  const response = await callServer({ app, signal: forever }, 'POST', '/player', body)
  const joined = playerIn(await response.json())
  // A browser that stores no cookie in a frame of another site would be a new guest each time.
  if (!joined.isSignedIn && !(await read({ app })).hasJoined) {
    throw new CallError('unavailable', 'Open the app by its link: this frame cannot share data.')
  }
  known = Promise.resolve(joined)
  return joined
}
