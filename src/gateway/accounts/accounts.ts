import { and, eq, gte } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { countRows, lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { newId, sign } from '../../kernel/ids.ts'
import { accountsPerAddressDay } from '../../kernel/limits.ts'
import { nextUtcDay, secondsUntil, utcDay } from '../../kernel/time.ts'
import * as keys from '../../money/keys/keys.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { gatewayAccounts } from './tables.ts'

export type Account = typeof gatewayAccounts.$inferSelect

/**
 * Creates a gateway account with a balance of 0 and its first key, which is shown once (document 2,
 * POST /accounts/create). Throws `keys_address_limit`.
 */
export async function create(
  ctx: AppContext,
  address: string,
): Promise<{ account: Account; keyText: string }> {
  const addressHash = sign(ctx.secret, `address ${address}`)
  return ctx.db.tx(async (db) => {
    await lock(db, `new accounts of ${addressHash}`)
    await checkDailyLimit(ctx, db, addressHash)
    const account = { id: newId(), addressHash, created: ctx.clock.now() }
    await db.insert(gatewayAccounts).values(account)
    await ledger.openOwnerAccount(ctx, db, { kind: 'gateway', owner: account.id })
    const key = { kind: 'gateway', owner: account.id, dailyCap: keys.initialCap(ctx) } as const
    const { text } = await keys.create(db, ctx.clock, key)
    return { account, keyText: text }
  })
}

async function checkDailyLimit(ctx: AppContext, db: Db, addressHash: string): Promise<void> {
  const now = ctx.clock.now()
  const today = gte(gatewayAccounts.created, Date.parse(utcDay(now)))
  const fromAddress = and(eq(gatewayAccounts.addressHash, addressHash), today)
  if ((await countRows(db, gatewayAccounts, fromAddress)) < accountsPerAddressDay) return
  const retryAfter = secondsUntil(nextUtcDay(now), now)
  throw new ApiError('keys_address_limit', { max: accountsPerAddressDay, retryAfter })
}

/** Finds the account with this credit_id. */
export async function find(ctx: AppContext, id: string): Promise<Account | undefined> {
  const [account] = await ctx.db.read
    .select()
    .from(gatewayAccounts)
    .where(eq(gatewayAccounts.id, id))
  return account
}
