import { eq } from 'drizzle-orm'

import type { Client } from '../../kernel/client.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import type { Signals } from '../../kernel/db/signals.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { type Clock, hour, second } from '../../kernel/time.ts'
import { accountOf } from '../ledger/accounts.ts'
import type { Key, KeySettings } from './keys.ts'
import { restrictions } from './tables.ts'

export type Restriction = typeof restrictions.$inferSelect
export type RestrictionKind = Restriction['kind']

/** Names of what a restriction covers: "address:203.0.113.0/24", "key:ak_…", "account:agent:…". */
export const subjectPattern = /^(address|key|account):\S{1,120}$/

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** The clients that the operator slowed down or blocked. */
    readonly restrictions: Restrictions
  }
}

/** The clients that the operator slowed down or blocked, in memory for every request. */
export class Restrictions {
  private kinds = new Map<string, RestrictionKind>()

  constructor(private readonly ctx: { db: { read: Db }; signals: Signals }) {
    ctx.signals.follow('restrictions', () => this.load())
  }

  /** Reads them again in all processes. Call it after the commit of a change. */
  async reload(): Promise<void> {
    await this.load()
    await this.ctx.signals.send('restrictions')
  }

  /** Reads the database: at the start, with a signal, and each minute. */
  async load(): Promise<void> {
    const rows = await this.ctx.db.read.select().from(restrictions)
    this.kinds = new Map(rows.map(({ subject, kind }) => [subject, kind]))
  }

  kindOf(subject: string): RestrictionKind | undefined {
    return this.kinds.get(subject)
  }

  /** Returns all that are restricted. */
  list(): [subject: string, kind: RestrictionKind][] {
    return [...this.kinds]
  }

  /** Returns the strictest restriction of some subjects. */
  find(...subjects: string[]): { subject: string; kind: RestrictionKind } | undefined {
    if (this.kinds.size === 0) return undefined
    const found = subjects.flatMap((subject) => {
      const kind = this.kinds.get(subject)
      return kind ? [{ subject, kind }] : []
    })
    return found.find(({ kind }) => kind === 'block') ?? found[0]
  }
}

/** Stores or removes a restriction. Returns false for no change. Call `reload` afterwards. */
export async function setRestriction(
  { clock }: { clock: Clock },
  db: Db,
  subject: string,
  kind: RestrictionKind | null,
): Promise<boolean> {
  const [before] = await db
    .delete(restrictions)
    .where(eq(restrictions.subject, subject))
    .returning()
  if (kind !== null) {
    await db.insert(restrictions).values({ subject, kind, created: clock.now() })
  }
  return (before?.kind ?? null) !== kind
}

/** The time after which a blocked client may ask again, in seconds. */
const blockedRetryAfter = hour / second

/** A limit of 0 means that the operator blocked the client. */
interface Rejection {
  max: number
  retryAfter: number
}

/** Counts a request by the restriction of its network. Returns why it is rejected, if it is. */
export const networkRejection = (ctx: AppContext, { prefix }: Client): Rejection | undefined =>
  findRejection(ctx, `address:${prefix}`)

/**
 * Records whose key a request sent, so that costs and queues count by it too. Counts the request by
 * the restrictions of the key and its account. Throws `rate_limited`.
 */
export function identifyClient(
  ctx: AppContext,
  client: Client,
  key: Pick<Key, 'prefix' | 'kind' | 'owner'>,
): void {
  client.key = key.prefix
  client.account = accountOf(key)
  const rejection = clientRejection(ctx, client)
  if (rejection) throw new ApiError('rate_limited', rejection)
}

/** Counts a request by the restrictions of a key and its account. Returns why it is rejected. */
export const clientRejection = (ctx: AppContext, client: Client): Rejection | undefined =>
  findRejection(ctx, `key:${client.key}`, `account:${client.account}`)

function findRejection(
  { restrictions, state }: AppContext,
  ...subjects: string[]
): Rejection | undefined {
  const found = restrictions.find(...subjects)
  if (!found) return undefined
  if (found.kind === 'block') return { max: 0, retryAfter: blockedRetryAfter }
  const { slowedRequests: limit } = state.limits
  const retryAfter = limit.take(found.subject)
  return retryAfter === undefined ? undefined : { max: limit.max, retryAfter }
}

/** The counter of a project beside those of its keys. */
export const projectCounter = (id: string): string => `project:${id}`

/**
 * Checks the running requests that an account gives to a key. Throws `bad_request` above those of
 * every key, or those that the operator gave to `key`.
 */
export function checkRunningRequests(
  { config }: { config: Pick<Config, 'runningRequestsPerKey'> },
  { runningRequests: requested }: Partial<KeySettings>,
  key: KeySettings,
): void {
  const max = Math.max(config.runningRequestsPerKey, key.runningRequests ?? 0)
  if (typeof requested !== 'number' || requested <= max) return
  rejectRequest(
    `running_requests is at most ${max} here. The operator of this server can give a key more.`,
    'running_requests',
  )
}

/** Returns whether a list of ids and patterns, such as "openai/*", allows a model. */
export const allowsModel = (allowed: string[], id: string): boolean =>
  allowed.some((pattern) => matches(pattern, id))

/** An asterisk stands for any characters. */
function matches(pattern: string, id: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  if (parts.length === 0) return id === pattern
  if (!id.startsWith(start)) return false
  let at = start.length
  const end = parts.pop() ?? ''
  for (const part of parts) {
    const found = id.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return id.length - end.length >= at && id.endsWith(end)
}
