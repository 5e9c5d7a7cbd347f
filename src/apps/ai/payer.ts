import { type Spender, spenderOf } from '../../gateway/authentication.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { aiCallsPerPlayer } from '../../kernel/limits.ts'
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

/**
 * Returns the payer of a call of a model by an app: its maker or the operator as a sponsor, or the
 * player, within the cap of their consent. Throws `not_granted` without a consent, and
 * `not_signed_in`.
 */
export async function getPayer(ctx: AppContext, app: App, visitor: Visitor): Promise<Spender> {
  const sponsor = await findSponsorSpender(ctx, app, visitor)
  if (sponsor) return sponsor
  const person = visitor.user?.person
  if (!person) throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in` })
  const consent = await findConsent(ctx, app.id, person, await usesOf(ctx, app, 'ai'))
  if (!consent) throw new ApiError('not_granted')
  const counter = playerCounter(app.id, person.id)
  return {
    ...spenderOf(walletOf(person)),
    callerId: counter,
    cap: { key: counter, max: consent.dailyCap },
    runningRequests: aiCallsPerPlayer,
  }
}
