import {
  and,
  asc,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  notInArray,
  or,
} from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { isForbidden } from '../../kernel/forbidden-text.ts'
import type { Operation, Sender } from '../../kernel/http/operation.ts'
import type { RequestContext } from '../../kernel/http/request-context.ts'
import { newSecret, sign } from '../../kernel/ids.ts'
import { hasVisibleText, isPlainLine } from '../../kernel/text.ts'
import { day } from '../../kernel/time.ts'
import type { Person } from '../../people/people.ts'
import {
  getChatPlayer,
  guestCookie,
  playerOf,
  readGuestCookie,
  type Visitor,
} from '../../people/session-user.ts'
import { type App, visibleVersion } from '../apps.ts'
import { getPlayable, isOwner } from '../audience/access.ts'
import { versions } from '../tables.ts'
import { type SharingUse, sharingUses, undeclaredUses } from '../uses/uses.ts'
import { guestDays, playerIdChars, playerNameCharsMax } from './limits.ts'
import { documents, players, scores, uploads, values } from './tables.ts'

type PlayerRow = typeof players.$inferSelect

/** A player of an app, for one request. */
export interface Player {
  app: App
  /** An id that no other app has for this player; '' for a browser that has no cookie yet. */
  id: string
  /** The signed-in person, or the agent that plays in a chat; null for a guest. */
  person: string | null
  /** A person or an agent, and no guest: it has values of its own. */
  isSignedIn: boolean
  name: string | null
  hasJoined: boolean
  /** The uses that the player agreed to. */
  agreed: readonly SharingUse[]
  /** The uses that the version declares. */
  declared: readonly SharingUse[]
  /** The uses that the app may begin once a player agrees to them. */
  undeclared: readonly SharingUse[]
}

/**
 * Returns the caller of the data of an app from a chat. Throws what `getChatPlayer` throws, and
 * `no_key` for a change without a key: nothing that such a player stored could be found again.
 */
export async function getDataCaller(
  ctx: AppContext,
  sender: Sender,
  operation: Operation,
): Promise<Visitor> {
  const visitor = await getChatPlayer(ctx, sender, operation)
  if (!visitor.caller && operation.method !== 'GET') throw new ApiError('no_key')
  return visitor
}

/** A request of a page, which its shell sends. */
export interface PlayerCall {
  caller: Visitor
  headers: Headers
  context: RequestContext
}

/** Returns the id of a player: the same on all servers, and another one in each app. */
const playerId = (ctx: AppContext, app: string, who: string): string =>
  sign(ctx.secret, `player ${app} ${who}`).slice(0, playerIdChars)

/** Returns the player of a request. Throws `not_found` and `taken_down`. */
export async function findPlayer(
  ctx: AppContext,
  { caller, headers, context }: PlayerCall,
  appId: string,
): Promise<Player> {
  const app = await getPlayable(ctx, appId, { headers, context })
  const { user, caller: agent } = caller
  const known = agent
    ? { id: playerId(ctx, app.id, `agent ${agent.agent.id}`), person: agent.agent.id }
    : identifyPlayer(ctx, app, { headers }, user?.person)
  const row = known.id === '' ? undefined : await findRow(ctx.db.read, app.id, known.id)
  const isSignedIn = playerOf(caller) !== undefined
  const uses = await findAppUses(ctx, app, known.person)
  const joined = row?.joined ?? null
  const agreed = joined === null ? [] : (row?.uses ?? (await usesAt(ctx, app.id, joined)))
  const name = row?.name ?? null
  return { app, ...known, isSignedIn, name, hasJoined: joined !== null, agreed, ...uses }
}

const isMaker = async (ctx: AppContext, app: App, person: string | null): Promise<boolean> =>
  person !== null && (person === app.maker || (await isOwner(ctx, app, { id: person })))

/** Returns the uses of the version that a player sees, and of the newest for its maker. */
async function findAppUses(
  ctx: AppContext,
  app: App,
  person: string | null,
): Promise<Pick<Player, 'declared' | 'undeclared'>> {
  const seen = [visibleVersion(app)]
  if (!seen.includes(app.version) && (await isMaker(ctx, app, person))) seen.push(app.version)
  const rows = await ctx.db.read
    .select({ uses: versions.uses })
    .from(versions)
    .where(and(eq(versions.app, app.id), inArray(versions.version, seen)))
  const declared = [...new Set(rows.flatMap(({ uses }) => sharingUses(uses)))]
  const [first = [], second = first] = rows.map(({ uses }) => undeclaredUses(uses))
  const isOther = (use: SharingUse): boolean => second.includes(use) && !declared.includes(use)
  return { declared, undeclared: first.filter(isOther) }
}

/**
 * Returns the uses of the version that was the newest at a time: a player whose row lists none
 * agreed to those. Data of another server may be older than the first version here.
 */
async function usesAt(ctx: AppContext, app: string, time: number): Promise<SharingUse[]> {
  const [then] = await ctx.db.read
    .select({ uses: versions.uses })
    .from(versions)
    .where(and(eq(versions.app, app), or(lte(versions.created, time), eq(versions.version, 1))))
    .orderBy(desc(versions.version))
    .limit(1)
  return then ? sharingUses(then.uses) : []
}

const mayAsk = ({ declared, undeclared }: Player, use: SharingUse): boolean =>
  declared.includes(use) || undeclared.includes(use)

/** Checks that an app may ask a player for a use. Throws `not_declared`. */
function checkUse(player: Player, use: SharingUse): void {
  if (!mayAsk(player, use)) throw new ApiError('not_declared', { use })
}

/** Returns whether a player agreed to a use that the app may ask for. */
export const hasAgreed = (player: Player, use: SharingUse): boolean =>
  mayAsk(player, use) && player.agreed.includes(use)

/** Checks that a player agreed to a use of an app. Throws `not_declared` and `not_joined`. */
export function checkAgreed(player: Player, use: SharingUse): void {
  checkUse(player, use)
  if (!player.agreed.includes(use)) throw new ApiError('not_joined', { app: player.app.id })
}

/** Returns the id of a person, or of the guest that a browser has a cookie of. */
export function identifyPlayer(
  ctx: AppContext,
  { id: app }: Pick<App, 'id'>,
  browser: Pick<PlayerCall, 'headers'>,
  signedIn: Pick<Person, 'id'> | undefined,
): Pick<Player, 'id' | 'person'> {
  const person = signedIn?.id ?? null
  if (person !== null) return { id: playerId(ctx, app, `person ${person}`), person }
  const guest = readGuestCookie(ctx, browser)
  return { id: guest === undefined ? '' : playerId(ctx, app, `guest ${guest}`), person }
}

async function findRow(db: Db, app: string, id: string): Promise<PlayerRow | undefined> {
  const [row] = await db
    .select()
    .from(players)
    .where(and(eq(players.app, app), eq(players.id, id)))
  return row
}

/**
 * Returns a player who agreed to a use of an app. Throws `not_declared`, `not_joined`, and what
 * `findPlayer` throws.
 */
export async function getJoined(
  ctx: AppContext,
  call: PlayerCall,
  app: string,
  use: SharingUse,
): Promise<Player> {
  const player = await findPlayer(ctx, call, app)
  checkAgreed(player, use)
  return player
}

/** Counts a call of a player, or of the network of one without an id. Throws `data_limit`. */
export function countCall(
  { state }: AppContext,
  { app, id }: Player,
  { context: { client } }: Pick<PlayerCall, 'context'>,
): void {
  const { dataCalls } = state.limits
  const retryAfter = dataCalls.take(`${app.id} ${id || client.group}`)
  if (retryAfter !== undefined) throw new ApiError('data_limit', { max: dataCalls.max, retryAfter })
}

/** Returns the first row of a player, with these fields. */
const newPlayer = (
  ctx: AppContext,
  { app, id, person }: Pick<Player, 'app' | 'id' | 'person'>,
): PlayerRow => ({
  app: app.id,
  id,
  person,
  name: null,
  joined: null,
  uses: null,
  valueBytes: 0,
  values: 0,
  created: ctx.clock.now(),
})

/** An agreement of a player: the name that it shows, and uses, by default those of the version. */
interface Agreement {
  name?: string | undefined
  uses?: readonly SharingUse[] | undefined
}

/**
 * Records that a player agrees to share data with the other players and the maker of an app.
 * Returns the player, and the new cookie of a guest. Throws `bad_request`, `not_declared`,
 * `not_found`, `taken_down`, and `guests_limit` for too many new guests of a network.
 */
export async function joinApp(
  ctx: AppContext,
  call: PlayerCall,
  appId: string,
  { name, uses }: Agreement,
): Promise<{ player: Player; cookies: string[] }> {
  if (name !== undefined) checkName(name)
  const known = await findPlayer(ctx, call, appId)
  for (const use of uses ?? []) checkUse(known, use)
  const agreed = [...new Set([...known.agreed, ...(uses ?? known.declared)])]
  // A cookie may be made up, so each new row of a guest counts.
  if (!known.isSignedIn && !known.hasJoined) countGuest(ctx, call)
  const secret = known.id === '' ? newSecret() : undefined
  const id = secret === undefined ? known.id : playerId(ctx, appId, `guest ${secret}`)
  const row: PlayerRow = {
    ...newPlayer(ctx, { ...known, id }),
    joined: ctx.clock.now(),
    name: name ?? known.name,
    uses: agreed,
  }
  const changed = { joined: row.joined, name: row.name, person: row.person, uses: agreed }
  await ctx.db.tx((db) =>
    db
      .insert(players)
      .values(row)
      .onConflictDoUpdate({ target: [players.app, players.id], set: changed }),
  )
  return {
    player: { ...known, id, name: row.name, hasJoined: true, agreed },
    cookies: secret === undefined ? [] : [guestCookie(ctx, secret)],
  }
}

/** Counts a new guest of a network. Throws `guests_limit`. */
function countGuest({ state }: AppContext, { context: { client } }: PlayerCall): void {
  const limit = state.limits.newGuests.takeOne(client.prefix)
  if (limit) throw new ApiError('guests_limit', limit)
}

/** Returns whether a player may have a name. */
export const isPlayerName = (name: string): boolean =>
  isPlainLine(name, playerNameCharsMax) && hasVisibleText(name) && !isForbidden(name)

function checkName(name: string): void {
  if (isPlayerName(name)) return
  rejectRequest(
    `"name" is one plain line of 1 to ${playerNameCharsMax} characters, without slurs.`,
    'name',
  )
}

/** Adds the row of a player who has none yet. */
export async function ensurePlayer(ctx: AppContext, db: Db, player: Player): Promise<void> {
  await db.insert(players).values(newPlayer(ctx, player)).onConflictDoNothing()
}

/**
 * Deletes the rows of guests who joined long ago and left nothing. Such a guest is asked again.
 * Returns their number.
 */
export async function forgetGuests(ctx: AppContext): Promise<number> {
  // The rows of agents that played in chats before 2026-12 have no person, but count their values.
  const isOld = and(
    isNull(players.person),
    eq(players.values, 0),
    lt(players.created, ctx.clock.now() - guestDays * day),
  )
  let forgotten = 0
  for (let after = ''; ;) {
    const [next] = await ctx.db.read
      .select({ app: players.app })
      .from(players)
      .where(and(isOld, gt(players.app, after)))
      .orderBy(asc(players.app))
      .limit(1)
    if (!next) return forgotten
    after = next.app
    forgotten += await forgetGuestsOf(ctx, after, isOld)
  }
}

async function forgetGuestsOf(
  { db: engine }: AppContext,
  app: string,
  isOld: ReturnType<typeof and>,
): Promise<number> {
  return engine.tx(async (db) => {
    const authors = db
      .select({ id: documents.author })
      .from(documents)
      .where(and(eq(documents.app, app), isNotNull(documents.data)))
      .union(db.select({ id: values.author }).from(values).where(eq(values.app, app)))
      .union(db.select({ id: uploads.author }).from(uploads).where(eq(uploads.app, app)))
      .union(db.select({ id: scores.player }).from(scores).where(eq(scores.app, app)))
    const gone = await db
      .delete(players)
      .where(and(eq(players.app, app), isOld, notInArray(players.id, authors)))
      .returning({ id: players.id })
    return gone.length
  })
}
