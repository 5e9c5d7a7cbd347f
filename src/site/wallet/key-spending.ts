import { groupUsage } from '../../gateway/models/usage-groups.ts'
import { isApiError } from '../../kernel/errors.ts'
import { lastDays } from '../../kernel/time.ts'
import { accountOf } from '../../money/ledger/accounts.ts'
import type { AppContext } from '../../server/context.ts'
import { keyNames } from './keys.ts'
import type { KeySpending } from './spending.ts'

const keysShownMax = 12

/** Returns a wallet's spending by key, highest first; undefined for too many calls. */
export async function listKeySpending(
  ctx: AppContext,
  wallet: string,
  days: number,
): Promise<KeySpending[] | undefined> {
  const account = accountOf({ kind: 'gateway', owner: wallet })
  const from = Date.parse(lastDays(ctx.clock, days)[0] ?? '')
  try {
    const [groups, names] = await Promise.all([
      groupUsage(ctx.db.read, { account, from, to: ctx.clock.now() }, ['key']),
      keyNames(ctx, wallet),
    ])
    return groups.slice(0, keysShownMax).map(({ key, requests, charged }) => ({
      label: key ? (names.get(key) ?? `${key}…`) : 'Playground',
      requests,
      amount: charged,
    }))
  } catch (error) {
    if (isApiError(error, 'bad_request')) return undefined
    throw error
  }
}
