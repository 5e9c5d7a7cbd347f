import { eq } from 'drizzle-orm'

import { admitKey, type Spender, spenderOf } from '../../gateway/authentication.ts'
import { acceptsStartCredits } from '../../gateway/models/catalog.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sign } from '../../kernel/ids.ts'
import { aiCallsPerPlayer } from '../../kernel/limits.ts'
import { fromCredits, type NanoUsd, zero } from '../../kernel/money.ts'
import { agentAccount, agentOwner } from '../../money/ledger/accounts.ts'
import { spentToday } from '../../money/ledger/ledger.ts'
import { type Agent, findAgent, findByHandle } from '../../people/agents/agents.ts'
import type { Caller } from '../../people/agents/spending.ts'
import { walletOf } from '../../people/people.ts'
import { playerOf, type Visitor } from '../../people/session-user.ts'
import { type App, getVersion, visibleVersion } from '../apps.ts'
import { type Use, useNames } from '../uses/uses.ts'
import { chatCounter, findConsent, playerCounter } from './consents.ts'
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

/** Ends the sponsoring of an app, which may be removed. Calls that run are still paid. */
export const endSponsor = async (db: Db, app: string): Promise<unknown> =>
  db.delete(sponsors).where(eq(sponsors.app, app))

/** The counter of all that the sponsor of an app pays. */
const counterOf = (app: string): string => `sponsor:${app}`
/** The counter of all that the operator pays. */
const allowanceCounter = 'allowance'

/** Returns the name of a player for a cap: a person, an agent, or the network of a visitor. */
const counterNameOf = (ctx: AppContext, visitor: Visitor): string =>
  playerOf(visitor)?.id ?? sign(ctx.secret, `sponsored ${visitor.client.address}`).slice(0, 20)

/** Returns what an app's sponsor has spent today. */
export const spentBySponsor = (ctx: AppContext, app: string): Promise<NanoUsd> =>
  spentToday(ctx, counterOf(app))

/** An agent that pays for players, with its caps of a day. */
interface Offer extends Pick<Sponsor, 'dailyCap' | 'playerCap'> {
  agent: Agent | undefined
  /** The counter of all players. */
  counter: string
}

/** Returns the offers for an app: of its maker, and then of the operator. */
async function listOffers(ctx: AppContext, app: App): Promise<Offer[]> {
  const { appAllowanceAgent: handle, appAllowanceCredits, appAllowancePlayerCredits } = ctx.config
  const sponsor = await findSponsor(ctx, app.id)
  const maker = sponsor && (await findAgent(ctx, app.maker))
  const hasAllowance = handle !== '' && appAllowanceCredits > 0
  return [
    ...(sponsor ? [{ ...sponsor, agent: maker, counter: counterOf(app.id) }] : []),
    ...(hasAllowance
      ? [
          {
            agent: await findByHandle(ctx, handle.replace(/^@/, '')),
            counter: allowanceCounter,
            dailyCap: fromCredits(appAllowanceCredits),
            playerCap: fromCredits(appAllowancePlayerCredits),
          },
        ]
      : []),
  ]
}

/** Returns whether one of some caps of today is used up. */
async function isUsedUp(
  ctx: AppContext,
  limits: { counter: string; max: NanoUsd }[],
): Promise<boolean> {
  const spent = await Promise.all(limits.map(({ counter }) => spentToday(ctx, counter)))
  return limits.some(({ max }, at) => (spent[at] ?? zero) >= max)
}

/**
 * Yields the agents that pay for a player of an app, as its maker and as the operator offer, unless
 * their caps of today are used up. The ledger checks all caps again with each hold.
 */
async function* sponsorSpenders(
  ctx: AppContext,
  app: App,
  visitor: Visitor,
): AsyncGenerator<Spender> {
  for (const { agent, counter, dailyCap, playerCap } of await listOffers(ctx, app)) {
    if (!agent || agent.closed !== null || agent.suspended !== null || agent.pausedBy !== null)
      continue
    const ofPlayer = `${counter}:${counterNameOf(ctx, visitor)}`
    const limits = [
      { counter, owner: 'sponsor', max: dailyCap },
      // All that an agent sponsors and spends itself stays below its own cap.
      ...(agent.dailyCap === null
        ? []
        : [{ counter: agent.id, owner: 'agent', max: agent.dailyCap }]),
    ]
    if (await isUsedUp(ctx, [...limits, { counter: ofPlayer, max: playerCap }])) continue
    yield {
      owner: agentOwner(agent.id),
      account: agentAccount(agent.id),
      callerId: ofPlayer,
      cap: { key: ofPlayer, max: playerCap },
      group: counter,
      payer: agent.id,
      budgets: limits.map((limit) => ({ ...limit, period: 'day' })),
      runningRequests: aiCallsPerPlayer,
      funds: acceptsStartCredits(ctx) ? 'any' : 'paid',
      source: 'web',
    }
  }
}

/** Returns whether a sponsor pays for a player of an app now. */
export const isSponsored = async (ctx: AppContext, app: App, visitor: Visitor): Promise<boolean> =>
  (await sponsorSpenders(ctx, app, visitor).next()).done !== true

/** Returns what the version that players see uses, and the part that it calls now. */
export async function usesOf(ctx: AppContext, app: App, called: Use): Promise<Use[]> {
  const { uses } = await getVersion(ctx, app.id, visibleVersion(app))
  return useNames.filter((name) => name === called || uses?.service.includes(name))
}

/** Returns the percentage that the maker of an app adds to what a player pays. */
export const marginOf = ({ config }: AppContext, { aiMargin }: Pick<App, 'aiMargin'>): number =>
  config.pricesOn ? aiMargin : 0

/**
 * Yields those who may pay for a call of a model by an app: its maker and the operator as sponsors,
 * and then the player, within the cap of their consent and with the margin of the maker. Throws
 * `not_granted` without a consent, and `not_signed_in`.
 */
async function* payersOf(ctx: AppContext, app: App, visitor: Visitor): AsyncGenerator<Spender> {
  yield* sponsorSpenders(ctx, app, visitor)
  yield await getPlayerSpender(ctx, app, visitor)
}

/** A sponsor has too little left for a call, which another one may pay. */
const isTooLittle = (error: unknown): boolean =>
  error instanceof ApiError &&
  ['daily_cap', 'budget_exceeded', 'not_enough_credits'].includes(error.errorName)

/**
 * Returns a function that performs a call for the first payer who has enough for it. Without a
 * payer, this throws before the call is read.
 */
export async function findPayer(ctx: AppContext, app: App, visitor: Visitor) {
  const payers = payersOf(ctx, app, visitor)
  const first = await payers.next()
  return async <Result>(perform: (payer: Spender) => Promise<Result>): Promise<Result> => {
    for (let { value: payer } = first; ;) {
      try {
        return await perform(payer)
      } catch (error) {
        const next = isTooLittle(error) ? await payers.next() : undefined
        if (!next || next.done === true) throw error
        payer = next.value
      }
    }
  }
}

/** Throws `not_granted` and `not_signed_in`. */
async function getPlayerSpender(ctx: AppContext, app: App, visitor: Visitor): Promise<Spender> {
  const { user, caller } = visitor
  if (caller) {
    const max = await getConsentedCap(ctx, app, caller.agent)
    return withMargin(ctx, app, payerInChat(ctx, caller, chatCounter(app.id, caller.agent.id), max))
  }
  if (!user) throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in` })
  const counter = playerCounter(app.id, user.person.id)
  const max = await getConsentedCap(ctx, app, user.person)
  return withMargin(ctx, app, {
    ...spenderOf(walletOf(user.person)),
    callerId: counter,
    cap: { key: counter, max },
    runningRequests: aiCallsPerPlayer,
  })
}

/** Adds the margin of the maker to what a player pays. A maker who plays in a chat pays none. */
function withMargin(ctx: AppContext, app: App, spender: Spender): Spender {
  const [percent, account] = [marginOf(ctx, app), agentAccount(app.maker)]
  if (percent === 0 || account === spender.account) return spender
  return { ...spender, margin: { percent, account, item: app.id } }
}

/** Returns the most that a player has agreed to spend in an app on a day. Throws `not_granted`. */
async function getConsentedCap(
  ctx: AppContext,
  app: App,
  player: { id: string },
): Promise<NanoUsd> {
  const terms = { uses: await usesOf(ctx, app, 'ai'), margin: marginOf(ctx, app) }
  const consent = await findConsent(ctx, app.id, player, terms)
  if (!consent) throw new ApiError('not_granted')
  return consent.dailyCap
}

/**
 * Returns an agent in a chat as a payer: within all limits of its key, and within the cap of its
 * consent for the app. Throws `key_expired` and `key_rate`, and `not_granted` for the key of a
 * project, whose budget an app cannot share.
 */
function payerInChat(ctx: AppContext, { key }: Caller, counter: string, max: NanoUsd): Spender {
  const { key: _, ...spender } = admitKey(ctx, { ...key, budget: null })
  if (spender.group !== undefined) throw new ApiError('not_granted')
  const ofApp = { counter, owner: 'app', period: 'day' as const, max }
  return {
    ...spender,
    group: counter,
    budgets: [...(spender.budgets ?? []), ofApp],
    runningRequests: aiCallsPerPlayer,
    source: 'web',
  }
}
