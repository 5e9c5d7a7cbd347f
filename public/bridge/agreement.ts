import { field } from '../frame/messages.ts'
import { t } from '../words.ts'
import { ask, create } from './ask.ts'
import { CallError } from './protocol.ts'
import type { Call } from './receiver.ts'
import { callServer } from './server.ts'

/** A part of `service` by which an app shares data, as the server has it. */
export type SharingUse = 'shared' | 'db' | 'room' | 'scores' | 'files'

/** The player of this browser, as an app may know it. */
export interface Player {
  /** '' for a guest before the first agreement. */
  id: string
  isSignedIn: boolean
  name: string
  /** The uses that the player agreed to. */
  agreed: string[]
  /** The uses that the version declares. */
  declared: string[]
  /** Other uses that the app may ask for. The server refuses the rest. */
  undeclared: string[]
}

let known: Promise<Player> | undefined
/** The end of the last agreement: the next one may need no question then. */
let last: Promise<unknown> = Promise.resolve()
/** The player said “Not now”. This holds until the page is opened again. */
let isDenied = false
let named: Promise<Player> | undefined

/** Returns the maker of the app. A view of a chat learns of its app after it has begun. */
const makerOf = (): string => document.documentElement.dataset['maker'] ?? ''

/** As the server has it. */
const nameCharsMax = 40

const listIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

const playerIn = (body: unknown): Player => {
  const player = field(body, 'player')
  return {
    id: String(field(player, 'id') ?? ''),
    isSignedIn: field(player, 'signedIn') === true,
    name: String(field(player, 'name') ?? ''),
    agreed: listIn(field(player, 'agreed')),
    declared: listIn(field(player, 'declared')),
    undeclared: listIn(field(player, 'undeclared')),
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

/** Returns whether an app may ask a player for a use. The server refuses the others. */
const mayAsk = ({ declared, undeclared }: Player, use: SharingUse): boolean =>
  [...declared, ...undeclared].includes(use)

/** Returns whether a use needs no question. */
const isSettled = (player: Player, use: SharingUse): boolean =>
  player.agreed.includes(use) || !mayAsk(player, use)

/** Returns what a player agrees to by a bar: a use, and those that the version declares. */
const usesWith = ({ declared }: Player, use: SharingUse): string[] => [
  ...new Set([...declared, use]),
]

/**
 * Returns the player once they agreed that the app shares data by a use. A bar of the shell asks:
 * once for all uses that the version declares, and once for each other one. Throws `not_granted`
 * when they do not agree.
 */
export async function agree({ app }: Pick<Call, 'app'>, use: SharingUse): Promise<Player> {
  const player = await findPlayer({ app })
  if (isSettled(player, use)) return player
  const agreement = last.then(() => askPlayer(app, use))
  last = agreement.catch(() => undefined)
  return agreement
}

/**
 * Returns the player once they agreed that the app has boards of scores, and gave it a name for
 * them. Throws `not_granted` when they do not agree.
 */
export function agreeByName({ app }: Pick<Call, 'app'>): Promise<Player> {
  const agreement = (named ??= askName(app))
  agreement.catch((error: unknown) => {
    // This holds until the page is opened again.
    if (!(error instanceof CallError) || error.code !== 'not_granted') named = undefined
  })
  return agreement
}

async function askName(app: string): Promise<Player> {
  const player = await findPlayer({ app })
  if (isSettled(player, 'scores') && !(mayAsk(player, 'scores') && player.name === ''))
    return player
  const name = create('input', [], { maxLength: nameCharsMax, value: player.name })
  const label = create('label', [t('Name'), name])
  const others = player.declared.some((use) => use !== 'scores' && !player.agreed.includes(use))
  let text = t(
    others
      ? 'Show your scores on the board of this app? Its other players and its maker, {maker}, see them with this name. The app also shares what you do in it with them.'
      : 'Show your scores on the board of this app? Its other players and its maker, {maker}, see them with this name.',
    { maker: makerOf() },
  )
  for (;;) {
    const isAgreed = await ask({
      text,
      fields: [label],
      yes: t('Show my scores'),
      no: t('Not now'),
    })
    if (!isAgreed) throw notGranted()
    try {
      return await join(app, { name: name.value.trim(), uses: usesWith(player, 'scores') })
    } catch (error) {
      // The player may choose another name.
      if (!(error instanceof CallError) || error.code !== 'bad_request') throw error
      text = error.message
    }
  }
}

const notGranted = (): CallError =>
  new CallError('not_granted', 'The player does not share data with this app.')

/** Names for what an app shares by a use, where the player has agreed to others. */
const more: Record<string, string> = {
  shared: t('values that all its players change'),
  db: t('documents that all its players read'),
  room: t('what you do while others play'),
  scores: t('boards of scores'),
  files: t('files that you add'),
}

async function askPlayer(app: string, use: SharingUse): Promise<Player> {
  const player = await findPlayer({ app })
  if (isSettled(player, use)) return player
  if (isDenied) throw notGranted()
  const begun = usesWith(player, use).filter((one) => !player.agreed.includes(one))
  const what = new Intl.ListFormat(document.documentElement.lang).format(
    begun.flatMap((one) => more[one] ?? []),
  )
  const isAgreed = await ask({
    text: t(
      player.agreed.length === 0
        ? 'This app shares what you do in it with its other players and its maker, {maker}. Do not enter anything private.'
        : 'This app now also shares {what}, with its other players and its maker, {maker}. Do not enter anything private.',
      { what, maker: makerOf() },
    ),
    yes: t('Share and play'),
    no: t('Not now'),
  })
  isDenied = !isAgreed
  if (isDenied) throw notGranted()
  return join(app, { uses: usesWith(player, use) })
}

/** Sends what the player agreed to, after a press of theirs. Returns the player. */
export async function join(
  app: string,
  agreement: { name?: string; uses: string[] },
): Promise<Player> {
  const response = await callServer({ app, signal: forever }, 'POST', '/player', agreement)
  const joined = playerIn(await response.json())
  // A browser that stores no cookie in a frame of another site would be a new guest each time.
  if (!joined.isSignedIn && (await read({ app })).id !== joined.id) {
    throw new CallError('unavailable', 'Open the app by its link: this frame cannot share data.')
  }
  known = Promise.resolve(joined)
  return joined
}
