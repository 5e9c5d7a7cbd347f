import { and, eq, gte } from 'drizzle-orm'

import { type AppContext, firstCap } from '../../context.ts'
import { newId, sign } from '../../core/ids.ts'
import { nextUtcDay, secondsUntil, utcDay } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { lock } from '../../db/lock.ts'
import { countRows } from '../../db/query.ts'
import { ApiError } from '../../errors.ts'
import * as keys from '../../keys/keys.ts'
import * as ledger from '../../ledger/ledger.ts'
import { accountsPerAddressDay } from '../../limits.ts'
import { gatewayAccounts } from './tables.ts'

export type Account = typeof gatewayAccounts.$inferSelect

/**
 * Makes a gateway account with a balance of 0 and its first key, whose text is shown once
 * (document 2, POST /accounts/create). Refuses keys_address_limit.
 */
export async function create(
  ctx: AppContext,
  address: string,
): Promise<{ account: Account; keyText: string }> {
  const madeFrom = sign(ctx.secret, `address ${address}`)
  return ctx.db.tx(async (db) => {
    await lock(db, `new accounts of ${madeFrom}`)
    await checkNew(ctx, db, madeFrom)
    const account = { id: newId(), madeFrom, created: ctx.clock.now() }
    await db.insert(gatewayAccounts).values(account)
    await ledger.open(ctx, db, { kind: 'gateway', owner: account.id })
    const dailyCap = firstCap(ctx)
    const key = { kind: 'gateway', owner: account.id, dailyCap } as const
    const { text } = await keys.create(db, ctx.clock, key)
    return { account, keyText: text }
  })
}

async function checkNew(ctx: AppContext, db: Db, madeFrom: string): Promise<void> {
  const now = ctx.clock.now()
  const today = gte(gatewayAccounts.created, Date.parse(utcDay(now)))
  const here = and(eq(gatewayAccounts.madeFrom, madeFrom), today)
  if ((await countRows(db, gatewayAccounts, here)) < accountsPerAddressDay) return
  const retryAfter = secondsUntil(nextUtcDay(now), now)
  throw new ApiError('keys_address_limit', { max: accountsPerAddressDay, retryAfter })
}

/** The account with this credit_id. */
export async function find(ctx: AppContext, id: string): Promise<Account | undefined> {
  const [account] = await ctx.db.read
    .select()
    .from(gatewayAccounts)
    .where(eq(gatewayAccounts.id, id))
  return account
}
