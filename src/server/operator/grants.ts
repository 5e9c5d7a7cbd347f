import * as accounts from '../../gateway/accounts/accounts.ts'
import type { KeyManager } from '../../gateway/accounts/key-settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import { grantUsdMax } from '../../kernel/limits.ts'
import { formatDecimal, fromUsd, type NanoUsd, toCredits, toUsd } from '../../kernel/money.ts'
import { sentence } from '../../kernel/words/message.ts'
import { accountOf, agentOwner, findBalance, type Owner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import * as agents from '../../people/agents/agents.ts'
import { type AuditEntry, recordAudit } from '../../people/audit/audit.ts'
import { notify } from '../../people/notifications/notifications.ts'
import * as people from '../../people/people.ts'

/** The owner of an account that can receive credits. */
export interface Grantee {
  kind: 'agent' | 'person' | 'account'
  /** The name as entered: "@fox", "olga", or the id of an account. */
  name: string
  owner: Owner
  created: number
}

/** Finds an agent by @handle, a gateway account by id, or a person by name or e-mail address. */
export async function findGrantee(ctx: AppContext, name: string): Promise<Grantee | undefined> {
  const agent = name.startsWith('@') ? await agents.findByMention(ctx, name) : undefined
  if (agent) return { kind: 'agent', name, owner: agentOwner(agent.id), created: agent.created }
  const account = idPattern.test(name) ? await accounts.find(ctx, name) : undefined
  if (account) {
    const owner = { kind: 'gateway', owner: account.id } as const
    return { kind: 'account', name, owner, created: account.created }
  }
  const person = await people.findByName(ctx, name)
  if (!person) return undefined
  const owner = people.walletOf(person)
  return { kind: 'person', name: person.name, owner, created: person.created }
}

/** Parses an amount of USD above 0 and up to `grantUsdMax`; undefined for anything else. */
function parseGrantUsd(usd: string): NanoUsd | undefined {
  const amount = fromUsd(usd.trim())
  return amount !== undefined && amount > 0n && toCredits(amount) <= grantUsdMax * 1_000
    ? amount
    : undefined
}

/** Finds the recipient of a grant and parses its amount. Throws `bad_request`. */
export async function readGrant(ctx: AppContext, { to, usd }: { to: string; usd: string }) {
  const grantee = await findGrantee(ctx, to.trim())
  if (!grantee) rejectRequest('No agent, person or gateway account has this name. Check the name.')
  const amount = parseGrantUsd(usd)
  if (amount !== undefined) return { grantee, amount }
  const max = grantUsdMax.toLocaleString('en')
  rejectRequest(`Enter USD as a number such as 5 or 0.25, up to ${max}.`)
}

/** Returns the balance of an owner in credits; 0 without an account. */
export const creditsOf = async (
  ctx: AppContext,
  { owner }: Pick<Grantee, 'owner'>,
): Promise<number> => toCredits((await findBalance(ctx.db.read, accountOf(owner)))?.balance ?? 0n)

/**
 * Gives credits, once per `ref`, and records `by` in the audit log. Throws `ref_conflict` where the
 * ref was used for another grant.
 */
export async function grantCredits(
  ctx: AppContext,
  { name, owner }: Grantee,
  { amount, ref = newId(), by }: { amount: NanoUsd; ref?: string; by: string },
): Promise<void> {
  const credits = toCredits(amount)
  await ctx.db.tx(async (db) => {
    const account = await ledger.openOwnerAccount(ctx, db, owner)
    const request = { account, amount, kind: 'grant', ref: `grant:${ref}`, free: false }
    const { isNew } = await ledger.grant(ctx, db, request)
    if (!isNew) return
    await recordAudit(ctx, db, {
      by,
      did: 'grant',
      item: name,
      why: `${formatDecimal(toUsd(amount))} USD`,
    })
    if (owner.kind !== 'agent') return
    const text = sentence('The operator gave you {credits} credits.', { credits })
    await notify(ctx, db, { to: owner.owner, kind: 'credits.received', text, data: { credits } })
  })
}

/** Finds the account of an @handle, a person or a credit_id, whose keys the operator manages. */
export async function findKeyManager(
  ctx: AppContext,
  name: string,
): Promise<{ name: string; manager: KeyManager } | undefined> {
  const found = await findGrantee(ctx, name)
  const { kind, owner } = found?.owner ?? {}
  if (found === undefined || owner === undefined) return undefined
  if (kind !== 'agent' && kind !== 'gateway') return undefined
  return { name: found.name, manager: { owner: { kind, owner } } }
}

/** Records a change of keys or projects: `item` is the name of their account. */
export const auditKeys = (
  { clock, db }: AppContext,
  entry: Omit<AuditEntry, 'id' | 'at'>,
): Promise<void> => db.tx((tx) => recordAudit({ clock }, tx, entry))
