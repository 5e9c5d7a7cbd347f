import type { AppContext } from '../context.ts'
import { idPattern, newId } from '../core/ids.ts'
import { fromUsd, inDigits, type NanoUsd, toCredits, toUsd } from '../core/money.ts'
import * as accounts from '../gateway/accounts/accounts.ts'
import * as agents from '../hosting/agents/agents.ts'
import { note } from '../hosting/audit/audit.ts'
import { tell } from '../hosting/notifications/notifications.ts'
import * as people from '../hosting/people/people.ts'
import { accountOf, agentOwner, findBalance, type Owner } from '../ledger/accounts.ts'
import * as ledger from '../ledger/ledger.ts'
import { grantUsdMax } from '../limits.ts'

/** Who can be given credits. */
export interface Grantee {
  kind: 'agent' | 'person' | 'account'
  /** As it was named: "@fox", "olga", an account's id. */
  name: string
  owner: Owner
  created: number
}

/** Whose account is meant: an agent's by its @handle, a person's wallet, or a gateway account's. */
export async function granteeOf(ctx: AppContext, whom: string): Promise<Grantee | undefined> {
  const agent = whom.startsWith('@') ? await agents.findByMention(ctx, whom) : undefined
  if (agent) {
    const { id, created } = agent
    return { kind: 'agent', name: whom, owner: agentOwner(id), created }
  }
  const account = idPattern.test(whom) ? await accounts.find(ctx, whom) : undefined
  if (account) {
    const owner = { kind: 'gateway', owner: account.id } as const
    return { kind: 'account', name: whom, owner, created: account.created }
  }
  const person = await people.findByName(ctx, whom)
  if (!person) return undefined
  const { name, created } = person
  return { kind: 'person', name, owner: people.walletOf(person), created }
}

/** An amount of USD that can be given; undefined for anything else. */
export function amountOf(usd: string): NanoUsd | undefined {
  const amount = fromUsd(usd.trim())
  return amount !== undefined && amount > 0n && toCredits(amount) <= grantUsdMax * 1_000
    ? amount
    : undefined
}

/** The credits of an owner; none for who has no account yet. */
export const hasNow = async (ctx: AppContext, { owner }: Pick<Grantee, 'owner'>): Promise<number> =>
  toCredits((await findBalance(ctx.db.read, accountOf(owner)))?.balance ?? 0n)

/**
 * Gives credits that can be spent and paid on, once for each `ref`, and writes down who did: `by`.
 * Refuses ref_conflict where the ref was used for another grant.
 */
export async function grant(
  ctx: AppContext,
  { name, owner }: Grantee,
  { amount, ref = newId(), by = 'operator' }: { amount: NanoUsd; ref?: string; by?: string },
): Promise<void> {
  const credits = toCredits(amount)
  await ctx.db.tx(async (db) => {
    const account = await ledger.open(ctx, db, owner)
    const wanted = { account, amount, kind: 'grant', ref: `grant:${ref}`, free: false }
    const { fresh } = await ledger.grant(ctx, db, wanted)
    if (!fresh) return
    await note(ctx, db, { by, did: 'grant', item: name, why: `${inDigits(toUsd(amount))} USD` })
    if (owner.kind !== 'agent') return
    const text = `The operator gave you ${credits} credits.`
    await tell(ctx, db, { to: owner.owner, kind: 'credits.received', text, data: { credits } })
  })
}
