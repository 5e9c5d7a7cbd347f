import { eq } from 'drizzle-orm'

import type { Spender } from '../../gateway/authentication.ts'
import { acceptsStartCredits } from '../../gateway/models/catalog.ts'
import type { AppContext } from '../../kernel/context.ts'
import { sign } from '../../kernel/ids.ts'
import { aiCallsPerPlayer } from '../../kernel/limits.ts'
import { utcDay } from '../../kernel/time.ts'
import { agentAccount, agentOwner } from '../../money/ledger/accounts.ts'
import { sumSpendingSince } from '../../money/ledger/caps.ts'
import { findAgent } from '../../people/agents/agents.ts'
import type { Visitor } from '../../people/session-user.ts'
import type { App } from '../apps.ts'
import { sponsors } from './tables.ts'

export type Sponsor = typeof sponsors.$inferSelect

/** Lets the maker pay for the models of an app, up to a cap of each day and one of each player. */
export async function setSponsor(
  { db, clock }: AppContext,
  app: string,
  caps: Pick<Sponsor, 'dailyCap' | 'playerCap'>,
): Promise<Sponsor> {
  const row = { app, ...caps, at: clock.now() }
  const { dailyCap, playerCap, at } = row
  await db.tx((tx) =>
    tx
      .insert(sponsors)
      .values(row)
      .onConflictDoUpdate({ target: sponsors.app, set: { dailyCap, playerCap, at } }),
  )
  return row
}

export async function findSponsor({ db }: AppContext, app: string): Promise<Sponsor | undefined> {
  const [row] = await db.read.select().from(sponsors).where(eq(sponsors.app, app))
  return row
}

/** Ends the sponsoring of an app. Calls that run are still paid. */
export const endSponsor = async ({ db }: AppContext, app: string): Promise<unknown> =>
  db.tx((tx) => tx.delete(sponsors).where(eq(sponsors.app, app)))

/** The counters of an app's sponsor: of all players, and of one. */
const dayCounter = (app: string): string => `sponsor:${app}`
const playerCounter = (app: string, player: string): string => `sponsor:${app}:${player}`

/** Returns the name of a player for a cap: a person, or the network of a visitor. */
const playerOf = (ctx: AppContext, { user, client }: Visitor): string =>
  user?.person.id ?? sign(ctx.secret, `sponsored ${client.address}`).slice(0, 20)

/** Returns what an app's sponsor has spent today. */
export const spentBySponsor = ({ db, clock }: AppContext, app: string) =>
  sumSpendingSince(db.read, dayCounter(app), utcDay(clock.now()))

/**
 * Returns the maker of an app as the payer for a player; undefined when there is no sponsor, or
 * when a cap of today is used up. The ledger checks both caps again with each hold.
 */
export async function findSponsorSpender(
  ctx: AppContext,
  app: App,
  visitor: Visitor,
): Promise<Spender | undefined> {
  const sponsor = await findSponsor(ctx, app.id)
  if (!sponsor) return undefined
  const maker = await findAgent(ctx, app.maker)
  if (!maker || maker.pausedBy !== null) return undefined
  const { dailyCap, playerCap } = sponsor
  const counter = playerCounter(app.id, playerOf(ctx, visitor))
  const today = utcDay(ctx.clock.now())
  const [spent, ofPlayer] = await Promise.all([
    spentBySponsor(ctx, app.id),
    sumSpendingSince(ctx.db.read, counter, today),
  ])
  if (spent >= dailyCap || ofPlayer >= playerCap) return undefined
  const group = dayCounter(app.id)
  return {
    owner: agentOwner(maker.id),
    account: agentAccount(maker.id),
    callerId: counter,
    cap: { key: counter, max: playerCap },
    group,
    budgets: [{ counter: group, owner: 'sponsor', period: 'day', max: dailyCap }],
    runningRequests: aiCallsPerPlayer,
    funds: acceptsStartCredits(ctx) ? 'any' : 'paid',
    source: 'web',
  }
}
