import { and, eq, gt, isNotNull, isNull, lte } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows } from '../../kernel/db/query.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { newCode, newSecret, normalizeCode, sha256 } from '../../kernel/ids.ts'
import { deviceCodeMs, deviceCodesMax, keyNameCharsMax } from '../../kernel/limits.ts'
import { isPlainLine } from '../../kernel/text.ts'
import { findAgent } from '../../people/agents/agents.ts'
import { insertAgentKey } from '../../people/agents/keys.ts'
import { withAttemptLimit } from '../../people/claims.ts'
import type { Person } from '../../people/people.ts'
import { actAs } from '../owners/owned-agents.ts'
import { deviceCodes } from './tables.ts'

/** The codes of a sign-in. Only their hashes are stored. */
export interface DeviceCodes {
  /** The secret of the device. */
  device: string
  user: string
}

/** Returns the address of the page where a person enters a code. */
export const devicePage = ({ urls }: AppContext): string => `${urls.app}/device`

/** Starts the sign-in of a device. Throws `bad_request`, `device_codes_limit`, `try_again`. */
export async function startSignIn(
  ctx: AppContext,
  client: string,
  address: string,
): Promise<DeviceCodes> {
  if (!isPlainLine(client, keyNameCharsMax))
    rejectRequest(
      `"client_id" must be one line of at most ${keyNameCharsMax} characters.`,
      'client_id',
    )
  const { deviceCodes: limit } = ctx.state.limits
  const retryAfter = await limit.take(address)
  if (retryAfter !== undefined)
    throw new ApiError('device_codes_limit', { max: limit.max, retryAfter })
  const codes = { device: newSecret(), user: newCode() }
  const now = ctx.clock.now()
  await ctx.db.tx(async (db) => {
    if ((await countRows(db, deviceCodes, gt(deviceCodes.expires, now))) >= deviceCodesMax)
      throw new ApiError('try_again', { why: 'Too many devices wait for a sign-in.' })
    const [hash, userHash] = [sha256(codes.device), sha256(codes.user)]
    await db.insert(deviceCodes).values({ hash, userHash, client, expires: now + deviceCodeMs })
  })
  return codes
}

const isWaiting = (ctx: AppContext, code: string) =>
  and(
    eq(deviceCodes.userHash, sha256(normalizeCode(code))),
    gt(deviceCodes.expires, ctx.clock.now()),
    isNull(deviceCodes.agent),
    eq(deviceCodes.denied, false),
  )

const attempt = (address: string) => ({ address, wrong: 'bad_device_code' as const })

async function getClient(ctx: AppContext, code: string): Promise<string> {
  const [found] = await ctx.db.read.select().from(deviceCodes).where(isWaiting(ctx, code))
  if (found) return found.client
  throw new ApiError('bad_device_code')
}

/**
 * Returns the name of the program that waits for a code. Throws `bad_device_code` and
 * `claim_locked`.
 */
export const findClient = (ctx: AppContext, code: string, address: string): Promise<string> =>
  withAttemptLimit(ctx, attempt(address), () => getClient(ctx, code))

interface Approval {
  code: string
  /** The agent of the person; undefined for a new one. */
  handle: string | undefined
}

/**
 * Lets the device of a code sign in as an agent of a person. Throws as `findClient` and `actAs` do.
 */
export const approve = (
  ctx: AppContext,
  person: Person,
  { code, handle }: Approval,
  address: string,
): Promise<{ client: string; handle: string }> =>
  withAttemptLimit(ctx, attempt(address), async () => {
    const client = await getClient(ctx, code)
    const agent = await actAs(ctx, person, { handle, address }, (db, { id }) =>
      decide(ctx, db, code, { agent: id, person: person.id }),
    )
    return { client, handle: agent.handle }
  })

/** Denies the sign-in of a device. Throws as `findClient` does. */
export const deny = (ctx: AppContext, code: string, address: string): Promise<void> =>
  withAttemptLimit(ctx, attempt(address), () =>
    ctx.db.tx((db) => decide(ctx, db, code, { denied: true })),
  )

/** Records a decision once. Throws `bad_device_code`. */
async function decide(
  ctx: AppContext,
  db: Db,
  code: string,
  decision: Partial<typeof deviceCodes.$inferSelect>,
): Promise<void> {
  const decided = await db
    .update(deviceCodes)
    .set(decision)
    .where(isWaiting(ctx, code))
    .returning({ hash: deviceCodes.hash })
  if (decided.length === 0) throw new ApiError('bad_device_code')
}

/**
 * Creates the key of an approved device, once. Throws `authorization_pending`, `access_denied`,
 * `expired_token`, and as `insertAgentKey` does; then the device may ask again.
 */
export async function redeem(ctx: AppContext, device: string, client: string): Promise<string> {
  const isOwn = and(
    eq(deviceCodes.hash, sha256(device)),
    eq(deviceCodes.client, client),
    gt(deviceCodes.expires, ctx.clock.now()),
  )
  const [found] = await ctx.db.read.select().from(deviceCodes).where(isOwn)
  if (!found) throw new ApiError('expired_token')
  if (found.denied) throw new ApiError('access_denied')
  if (found.agent === null) throw new ApiError('authorization_pending')
  const agent = await findAgent(ctx, found.agent)
  // The person released the agent after the approval.
  if (!agent || agent.owner !== found.person) throw new ApiError('access_denied')
  return ctx.db.tx(async (db) => {
    const used = await db
      .delete(deviceCodes)
      .where(and(isOwn, isNotNull(deviceCodes.agent)))
      .returning({ hash: deviceCodes.hash })
    if (used.length === 0) throw new ApiError('expired_token')
    return (await insertAgentKey(ctx, db, { id: agent.id, name: client })).text
  })
}

/** Deletes expired sign-ins. */
export const deleteExpiredDeviceCodes = (ctx: AppContext): Promise<unknown> =>
  ctx.db.tx((db) => db.delete(deviceCodes).where(lte(deviceCodes.expires, ctx.clock.now())))
