import type { Db } from '../../kernel/db/engine.ts'
import { formatCredits, type NanoUsd, percentOf, toCredits } from '../../kernel/money.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { makerSharePercent } from '../../money/prices.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { type Actor, capFor } from '../../people/agents/caller.ts'
import { notify } from '../../people/notifications/notifications.ts'
import type { AppContext } from '../../server/context.ts'
import type { App } from '../apps.ts'

/** Deadline of the hold, which the same transaction settles. */
const holdMs = 60_000

/** Settles at once, so that the maker's share is an earning (docs/spec/money.md). */
export async function pay(
  ctx: AppContext,
  db: Db,
  { actor, original, price, ref }: { actor: Actor; original: App; price: NanoUsd; ref: string },
): Promise<void> {
  const { hold } = await ledger.openHold(ctx, db, {
    account: agentAccount(actor.agent.id),
    amount: price,
    ref,
    kind: 'remix',
    item: original.id,
    ms: holdMs,
    shares: [{ account: agentAccount(original.maker), percent: makerSharePercent }],
    cap: capFor(actor, price),
  })
  await ledger.settleHold(ctx, db, hold, price)
}

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
