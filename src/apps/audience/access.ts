import { and, eq, type SQL } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { idChars, idPattern, sha256, sign } from '../../kernel/ids.ts'
import { day, hour } from '../../kernel/time.ts'
import { readApiKey } from '../../money/keys/keys.ts'
import { type Agent, findAgent } from '../../people/agents/agents.ts'
import { findSentKey } from '../../people/authentication.ts'
import { findGroupsOf } from '../../people/groups.ts'
import { verifyPassword } from '../../people/passwords.ts'
import { findPerson, type Person } from '../../people/people.ts'
import { findSessionUser, secureAttribute, type SessionSender } from '../../people/session-user.ts'
import type { SignInClient } from '../../people/sign-in.ts'
import { type App, checkBuilt, findApp, requireAvailable } from '../apps.ts'
import { isPackKind } from '../kinds.ts'
import { audienceMembers, shareLinks } from './tables.ts'

const grantMs = 30 * day

const nameOf = (app: string): string => `berth_open_${app}`

/** Paths of an app, to which browsers send its cookie: its link, its operations, its reports. */
const pathsOf = (app: string): string[] => [`/a/${app}`, `/api/apps/${app}`, `/report/${app}`]

/** Returns what a browser keeps for an app; undefined without a grant. */
function readGrant(headers: Headers, app: string): string | undefined {
  const cookie = new RegExp(`(?:^|; ?)${nameOf(app)}=([\\w-]{40})(?:;|$)`)
  return cookie.exec(headers.get('cookie') ?? '')?.[1]
}

/** Returns the cookies of a grant, which browsers send for this app alone. */
const grantCookies = (ctx: AppContext, app: string, grant: string): string[] =>
  pathsOf(app).map(
    (path) =>
      `${nameOf(app)}=${grant}; Path=${path}; HttpOnly; SameSite=Lax` +
      `${secureAttribute(ctx)}; Max-Age=${grantMs / 1_000}`,
  )

/** The party that wants to open an app. */
export interface Opener {
  agent?: Agent | undefined
  person?: Person | undefined
  /** The cookie of the app: the secret of a share link, or the proof of its password. */
  grant?: string | undefined
}

/** The fields of an app that say who may open it. */
export type Audienced = Pick<App, 'id' | 'maker' | 'audience' | 'password' | 'expires'>

/** Returns whether an app has ended for all but its maker, its owner and the operator. */
export const isExpired = ({ clock }: AppContext, { expires }: Pick<App, 'expires'>): boolean =>
  expires !== null && expires <= clock.now()

/** Returns whether anyone with the link may open an app. */
export const isOpenToAll = (ctx: AppContext, app: Pick<App, 'audience' | 'expires'>): boolean =>
  (app.audience === 'public' || app.audience === 'link') && !isExpired(ctx, app)

/** Returns whether a page asks strangers for the password of an app. */
export const isLocked = (
  ctx: AppContext,
  app: Pick<App, 'audience' | 'expires' | 'closed' | 'takenDown'>,
): boolean =>
  app.audience === 'password' &&
  app.closed === null &&
  app.takenDown === null &&
  !isExpired(ctx, app)

/**
 * Returns whether the sender of a request may open an app. Every reader of an app that is not its
 * own passes this check, or requires that it is on Explore, which only public apps are.
 */
export async function mayOpen(
  ctx: AppContext,
  app: Audienced,
  sender: SessionSender,
): Promise<boolean> {
  return isOpenToAll(ctx, app) || mayOpenAs(ctx, app, await findOpener(ctx, app, sender))
}

/** Stands for an unknown id, so that a check takes as long as that of an app that is not open. */
export function unknownApp(given: string): Audienced {
  const id = idPattern.test(given) ? given : 'A'.repeat(idChars)
  return { id, maker: id, audience: 'people', password: null, expires: null }
}

/** Finds an app that the sender of a request may open. */
export async function findOpenApp(
  ctx: AppContext,
  id: string,
  sender: SessionSender,
): Promise<App | undefined> {
  const app = await findApp(ctx, id)
  const isOpen = await mayOpen(ctx, app ?? unknownApp(id), sender)
  return isOpen ? app : undefined
}

/** Returns a sender whose session is read again, for a connection that outlives its request. */
export const freshSender = ({ headers, context }: SessionSender): SessionSender => ({
  headers,
  context: Object.create(context, { sessionUser: { value: undefined, writable: true } }),
})

/**
 * The reason for which a party may open an app that is not open to all: an agent or a person by its
 * id, the id of a share link, or a part of the proof of the password.
 */
export interface Pass {
  kind: (typeof passKinds)[number]
  id: string
}

export const passKinds = ['agent', 'person', 'link', 'password'] as const

/** Returns whether a party may open an app. */
export const mayOpenAs = async (
  ctx: AppContext,
  app: Audienced,
  opener: Opener,
): Promise<boolean> => isOpenToAll(ctx, app) || (await findPassOf(ctx, app, opener)) !== undefined

async function findPassOf(
  ctx: AppContext,
  app: Audienced,
  { agent, person, grant }: Opener,
): Promise<Pass | undefined> {
  if (agent?.id === app.maker) return { kind: 'agent', id: agent.id }
  if (person?.suspended != null) return undefined
  const own: Pass | undefined = agent
    ? { kind: 'agent', id: agent.id }
    : person && { kind: 'person', id: person.id }
  if (person && (person.operator || (await isOwner(ctx, app, person)))) return own
  if (isExpired(ctx, app)) return undefined
  const granted = grant === undefined ? undefined : await findGrantedPass(ctx, app, grant)
  if (granted || !person) return granted
  const isOpen =
    app.audience === 'instance' || (app.audience === 'people' && (await isMember(ctx, app, person)))
  return isOpen ? own : undefined
}

/** Returns whether the sender of a request is the maker of an app or its owner. */
export async function isOwnApp(
  ctx: AppContext,
  app: Audienced,
  sender: SessionSender,
): Promise<boolean> {
  const { agent, person } = await findOpener(ctx, app, sender)
  if (agent?.id === app.maker) return true
  return person?.suspended === null && isOwner(ctx, app, person)
}

/** Returns what lets the sender of a request open an app that is not open to all. */
export const findPass = async (
  ctx: AppContext,
  app: Audienced,
  sender: SessionSender,
): Promise<Pass | undefined> => findPassOf(ctx, app, await findOpener(ctx, app, sender))

/** Returns whether a pass still lets its holder open an app. */
export async function isValidPass(
  ctx: AppContext,
  app: Audienced,
  { kind, id }: Pass,
): Promise<boolean> {
  switch (kind) {
    case 'agent': {
      const agent = await findAgent(ctx, id)
      return agent !== undefined && mayOpenAs(ctx, app, await asAgent(ctx, agent))
    }
    case 'person':
      return mayOpenAs(ctx, app, { person: await findPerson(ctx, id) })
    case 'link':
      return (
        !isExpired(ctx, app) &&
        (await findLiveLink(ctx, app.id, eq(shareLinks.id, id))) !== undefined
      )
    case 'password':
      return !isExpired(ctx, app) && hasPassword(app) && id === passwordPart(ctx, app)
  }
}

async function findOpener(ctx: AppContext, app: Audienced, sender: SessionSender): Promise<Opener> {
  const grant = readGrant(sender.headers, app.id)
  const text = readApiKey(sender.headers)
  if (text === undefined) {
    return { grant, person: (await findSessionUser(ctx, sender))?.person }
  }
  const key = await findSentKey(ctx, sender.context, text)
  if (!key || key.revoked !== null) return { grant }
  if (key.kind === 'person') return { grant, person: await findPerson(ctx, key.owner) }
  const agent = key.kind === 'agent' ? await findAgent(ctx, key.owner) : undefined
  return agent ? { grant, ...(await asAgent(ctx, agent)) } : { grant }
}

/** Returns an agent as an opener: it may open what its owner may. */
export async function asAgent(ctx: AppContext, agent: Agent): Promise<Opener> {
  if (agent.closed !== null || agent.suspended !== null) return {}
  return { agent, person: agent.owner === null ? undefined : await findPerson(ctx, agent.owner) }
}

/** Returns whether a person owns the maker of an app. */
export async function isOwner(
  ctx: AppContext,
  { maker }: Pick<App, 'maker'>,
  person: Pick<Person, 'id'>,
): Promise<boolean> {
  const agent = await findAgent(ctx, maker)
  return agent?.owner === person.id
}

async function isMember(ctx: AppContext, { id }: Audienced, person: Person): Promise<boolean> {
  const rows = await ctx.db.read.select().from(audienceMembers).where(eq(audienceMembers.app, id))
  if (rows.some(({ kind, member }) => kind === 'person' && member === person.id)) return true
  const groups = rows.filter(({ kind }) => kind === 'group').map(({ member }) => member)
  return (await findGroupsOf(ctx.db.read, person.id, groups)).length > 0
}

/** Returns what a browser keeps after the right password. Another password ends it. */
const passwordGrant = ({ secret }: AppContext, { id, password }: Audienced): string =>
  sign(secret, `open ${id} ${password}`).slice(0, 40)

const passwordPart = (ctx: AppContext, app: Audienced): string =>
  passwordGrant(ctx, app).slice(0, idChars)

const hasPassword = ({ audience, password }: Audienced): boolean =>
  audience === 'password' && password !== null

/** Last uses are written at most so often. */
const usedEveryMs = hour

async function findGrantedPass(
  ctx: AppContext,
  app: Audienced,
  grant: string,
): Promise<Pass | undefined> {
  // Both are hashed, so the time of the comparison says nothing.
  if (hasPassword(app) && sha256(grant) === sha256(passwordGrant(ctx, app)))
    return { kind: 'password', id: passwordPart(ctx, app) }
  const link = await findLink(ctx, app.id, grant)
  return link && { kind: 'link', id: link.id }
}

/** Finds the share link of a secret, while it is not revoked and not expired. Records its use. */
async function findLink(ctx: AppContext, app: string, secret: string) {
  const now = ctx.clock.now()
  const link = await findLiveLink(ctx, app, eq(shareLinks.hash, sha256(secret)))
  if (link && (link.used === null || link.used + usedEveryMs <= now)) {
    await ctx.db.tx((db) =>
      db.update(shareLinks).set({ used: now }).where(eq(shareLinks.id, link.id)),
    )
  }
  return link
}

async function findLiveLink(ctx: AppContext, app: string, isOne: SQL) {
  const [link] = await ctx.db.read
    .select()
    .from(shareLinks)
    .where(and(isOne, eq(shareLinks.app, app)))
  return link && (link.expires ?? Number.POSITIVE_INFINITY) > ctx.clock.now() ? link : undefined
}

const notFound = () => new ApiError('not_found', { what: 'app' })

/** Returns an app that a password opens, before it expires. Throws `not_found` for all others. */
export async function getLockedApp(ctx: AppContext, id: string): Promise<App> {
  const app = await findApp(ctx, id)
  if (app && isLocked(ctx, app)) return app
  throw notFound()
}

/**
 * Returns the cookies of the right password of an app. A network has ten wrong passwords an app
 * and a quarter of an hour. Throws `not_found`, `bad_password`, `sign_in_locked` and `try_again`.
 */
export async function openWithPassword(
  ctx: AppContext,
  id: string,
  password: string,
  { prefix }: Pick<SignInClient, 'prefix'>,
): Promise<string[]> {
  const app = await getLockedApp(ctx, id)
  const { appPasswords } = ctx.state.limits
  const key = `${id} ${prefix}`
  const retryAfter = await appPasswords.take(key)
  if (retryAfter !== undefined) throw new ApiError('sign_in_locked', { retryAfter })
  if (!(await verifyPassword(password, app.password))) throw new ApiError('bad_password')
  await appPasswords.giveBack(key)
  return grantCookies(ctx, id, passwordGrant(ctx, app))
}

/** Returns the cookies of a share link. Throws `not_found` for a link that is no more. */
export async function openWithLink(ctx: AppContext, id: string, secret: string): Promise<string[]> {
  const link = /^[A-Za-z0-9]{40}$/.test(secret) ? await findLink(ctx, id, secret) : undefined
  if (!link) throw notFound()
  return grantCookies(ctx, id, secret)
}

/**
 * Returns an app that the sender may open: its calls of `service` work. Throws `not_found`, also
 * for a pack and an app in quarantine, `taken_down`, and `busy` before its first version.
 */
export async function getPlayable(
  ctx: AppContext,
  id: string,
  sender: SessionSender,
): Promise<App> {
  const app = requireAvailable(await findOpenApp(ctx, id, sender))
  const maker = await findAgent(ctx, app.maker)
  const isWithdrawn = app.quarantinedAt !== null || !maker || maker.suspended !== null
  if (isWithdrawn || isPackKind(app.kind)) throw new ApiError('not_found', { what: 'app' })
  checkBuilt(app)
  return app
}
