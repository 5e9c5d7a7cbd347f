import { admitKey, type Spender, spenderOf } from '../../gateway/authentication.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { aiCallsPerPlayer } from '../../kernel/limits.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import type { Caller } from '../../people/agents/caller.ts'
import { walletOf } from '../../people/people.ts'
import type { Visitor } from '../../people/session-user.ts'
import { type App, getVersion, visibleVersion } from '../apps.ts'
import { type Use, useNames } from '../uses/uses.ts'
import { findConsent, playerCounter } from './consents.ts'
import { findSponsorSpender } from './sponsors.ts'

/** Returns what the version that players see uses, and the part that it calls now. */
export async function usesOf(ctx: AppContext, app: App, called: Use): Promise<Use[]> {
  const { uses } = await getVersion(ctx, app.id, visibleVersion(app))
  return useNames.filter((name) => name === called || uses?.service.includes(name))
}

/** Returns the percentage that the maker of an app adds to what a player pays. */
export const marginOf = ({ config }: AppContext, { aiMargin }: Pick<App, 'aiMargin'>): number =>
  config.pricesOn ? aiMargin : 0

/**
 * Returns the payer of a call of a model by an app: its maker or the operator as a sponsor, or the
 * player, within the cap of their consent and with the margin of the maker. Throws `not_granted`
 * without a consent, and `not_signed_in`.
 */
export async function getPayer(ctx: AppContext, app: App, visitor: Visitor): Promise<Spender> {
  const sponsor = await findSponsorSpender(ctx, app, visitor)
  if (sponsor) return sponsor
  const { user, caller } = visitor
  if (caller) {
    return withMargin(ctx, app, payerInChat(ctx, caller, await getTerms(ctx, app, caller.agent)))
  }
  if (!user) throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in` })
  const { counter, max } = await getTerms(ctx, app, user.person)
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

/** The most that a player has agreed to spend in an app on a day, and its counter. */
interface Terms {
  counter: string
  max: NanoUsd
}

/** Throws `not_granted`. */
async function getTerms(ctx: AppContext, app: App, player: { id: string }): Promise<Terms> {
  const terms = { uses: await usesOf(ctx, app, 'ai'), margin: marginOf(ctx, app) }
  const consent = await findConsent(ctx, app.id, player, terms)
  if (!consent) throw new ApiError('not_granted')
  return { counter: playerCounter(app.id, player.id), max: consent.dailyCap }
}

/**
 * Returns an agent in a chat as a payer: within all limits of its key, and within the cap of its
 * consent for the app. Throws `key_expired` and `key_rate`, and `not_granted` for the key of a
 * project, whose budget an app cannot share.
 */
function payerInChat(ctx: AppContext, { key }: Caller, { counter, max }: Terms): Spender {
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
