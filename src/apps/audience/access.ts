import { and, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { sha256, sign } from '../../kernel/ids.ts'
import { hour } from '../../kernel/time.ts'
import { readApiKey } from '../../money/keys/request-key.ts'
import { type Agent, findAgent } from '../../people/agents/agents.ts'
import { findSentKey } from '../../people/authentication.ts'
import { findGroupsOf } from '../../people/groups.ts'
import { findPerson, type Person } from '../../people/people.ts'
import { findSessionUser, type SessionSender } from '../../people/session-user.ts'
import type { App } from '../apps.ts'
import { readGrant } from './grants.ts'
import { audienceMembers, shareLinks } from './tables.ts'

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

/** Returns a sender whose session is read again, for a connection that outlives its request. */
export const freshSender = ({ headers, context }: SessionSender): SessionSender => ({
  headers,
  context: Object.create(context, { sessionUser: { value: undefined, writable: true } }),
})

/** Returns whether a party may open an app. */
export async function mayOpenAs(
  ctx: AppContext,
  app: Audienced,
  { agent, person, grant }: Opener,
): Promise<boolean> {
  if (isOpenToAll(ctx, app) || agent?.id === app.maker) return true
  if (person?.suspended != null) return false
  if (person && (person.operator || (await isOwner(ctx, app, person)))) return true
  if (isExpired(ctx, app)) return false
  if (grant !== undefined && (await isGranted(ctx, app, grant))) return true
  if (!person) return false
  return app.audience === 'instance' || (app.audience === 'people' && isMember(ctx, app, person))
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

async function isOwner(ctx: AppContext, { maker }: Audienced, person: Person): Promise<boolean> {
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
export const passwordGrant = ({ secret }: AppContext, { id, password }: Audienced): string =>
  sign(secret, `open ${id} ${password}`).slice(0, 40)

/** Last uses are written at most so often. */
const usedEveryMs = hour

async function isGranted(ctx: AppContext, app: Audienced, grant: string): Promise<boolean> {
  const isRight = app.audience === 'password' && app.password !== null
  // Both are hashed, so the time of the comparison says nothing.
  if (isRight && sha256(grant) === sha256(passwordGrant(ctx, app))) return true
  return (await findLink(ctx, app.id, grant)) !== undefined
}

/** Finds the share link of a secret, while it is not revoked and not expired. Records its use. */
export async function findLink(ctx: AppContext, app: string, secret: string) {
  const now = ctx.clock.now()
  const [link] = await ctx.db.read
    .select()
    .from(shareLinks)
    .where(and(eq(shareLinks.hash, sha256(secret)), eq(shareLinks.app, app)))
  if (!link || (link.expires !== null && link.expires <= now)) return undefined
  if (link.used === null || link.used + usedEveryMs <= now) {
    await ctx.db.tx((db) =>
      db.update(shareLinks).set({ used: now }).where(eq(shareLinks.id, link.id)),
    )
  }
  return link
}
