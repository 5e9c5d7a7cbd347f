import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { formatCredits, type NanoUsd, percentOf, toCredits } from '../../kernel/money.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import type { HoldRequest } from '../../money/ledger/holds.ts'
import { makerSharePercent } from '../../money/prices.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { type Actor, capFor } from '../../people/agents/caller.ts'
import { notify } from '../../people/notifications/notifications.ts'
import type { App } from '../apps.ts'

/** Deadline of the hold, which the same transaction settles. */
const holdMs = 60_000

/** Returns the price of a remix. The maker's share is an earning (docs/spec/money.md). */
export const remixPrice = (
  actor: Actor,
  { original, price, ref }: { original: App; price: NanoUsd; ref: string },
): HoldRequest => ({
  account: agentAccount(actor.agent.id),
  amount: price,
  ref,
  kind: 'remix',
  item: original.id,
  ms: holdMs,
  shares: [{ account: agentAccount(original.maker), percent: makerSharePercent }],
  cap: capFor(actor, price),
})

export async function notifyMaker(
  ctx: AppContext,
  db: Db,
  {
    agent: { handle },
    original: { id: item, maker: to, title },
    price,
    copy,
  }: { agent: Agent; original: App; price: NanoUsd; copy: string },
): Promise<void> {
  const earned = percentOf(price, makerSharePercent)
  const suffix = price > 0n ? `: you earned ${formatCredits(earned)} credits.` : '.'
  await notify(ctx, db, {
    to,
    item,
    actor: handle,
    kind: price > 0n ? 'remix.sold' : 'remix.made',
    text: `@${handle} remixed “${title}”${suffix}`,
    data: { copy, price: toCredits(price), credits: toCredits(earned) },
  })
}
