import { type Static, Type } from '@sinclair/typebox'

import type { Model } from '../../gateway/models/catalog.ts'
import { chargeOf } from '../../gateway/models/charge.ts'
import { addMargin } from '../../gateway/models/price.ts'
import { createUsage } from '../../gateway/models/usage.ts'
import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import {
  aiFileBytesMax,
  aiMarginPercentMax,
  aiTextBytesMax,
  consentCreditsMax,
} from '../../kernel/limits.ts'
import { fromCredits, toCredits } from '../../kernel/money.ts'
import { namedObject, nullable, oneOf, strictObject } from '../../kernel/schema.ts'
import { agentOwner, type Owner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { capFor } from '../../people/agents/spending.ts'
import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { walletOf } from '../../people/people.ts'
import { playerOf, signedIn, type Visitor, visitor } from '../../people/session-user.ts'
import { type App, getOwnApp } from '../apps.ts'
import { getPlayable } from '../audience/access.ts'
import { UseSchema } from '../uses/uses.ts'
import * as consents from './consents.ts'
import { findAppModel } from './prepare.ts'
import { isSponsored, marginOf, usesOf } from './sponsors.ts'
import * as sponsors from './sponsors.ts'
import { findTurnCost } from './turns.ts'

/** Credits with a fraction. */
const Credits = Type.Number({ minimum: 0 })

/** The models of an app, as its shell reads them. */
const AppAiSchema = namedObject('AppAi', {
  limits: Type.Object(
    { textBytesMax: Type.Integer(), fileBytesMax: Type.Integer() },
    { description: 'The bounds of one call. The app sees them.' },
  ),
  // ready: calls work. ask: the player must agree first. sign_in: there is no session.
  // no_model: the operator has set no model.
  state: oneOf(['ready', 'ask', 'sign_in', 'no_model']),
  uses: Type.Array(UseSchema, { description: 'What the player agrees to.' }),
  turn: nullable(Credits),
  isMeasured: Type.Boolean({ description: 'The price of a turn is that of calls of this app.' }),
  margin: Type.Integer({ description: 'Percent of it that the maker adds.' }),
  isDemo: Type.Boolean({ description: 'A demo model answers.' }),
  dailyCap: nullable(Credits),
  spent: Credits,
  available: nullable(Credits),
  signIn: Type.String(),
})
type AppAiBody = Static<typeof AppAiSchema>

/** PUT /apps/{id}/consent */
const ConsentRequestSchema = strictObject(
  {
    uses: Type.Array(UseSchema, { minItems: 1, uniqueItems: true }),
    dailyCap: Type.Integer({
      minimum: 0,
      maximum: consentCreditsMax,
      description: 'Credits that the app may spend of yours on a UTC day.',
    }),
    margin: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: aiMarginPercentMax,
        description: 'The margin of the maker, in percent, as the bar showed it.',
      }),
    ),
    remember: Type.Boolean({ description: 'false: until the end of the UTC day.' }),
  },
  { examples: [{ uses: ['ai'], dailyCap: 100, remember: false }] },
)

const ConsentSchema = namedObject('Consent', {
  app: Type.String(),
  uses: Type.Array(UseSchema),
  dailyCap: Credits,
  margin: Type.Integer(),
  remember: Type.Boolean(),
})

const RevokedConsentSchema = Type.Object({ app: Type.String(), revoked: Type.Boolean() })

const capSchema = (description: string) =>
  Type.Integer({ minimum: 1, maximum: consentCreditsMax, description })

/** PUT /apps/{id}/sponsor */
const SponsorRequestSchema = strictObject(
  {
    dailyCap: capSchema('Credits that all players may spend of yours on a UTC day.'),
    playerDailyCap: capSchema('Credits that one player may spend of them.'),
  },
  { examples: [{ dailyCap: 1_000, playerDailyCap: 20 }] },
)

const SponsorSchema = namedObject('Sponsor', {
  dailyCap: Credits,
  playerDailyCap: Credits,
  spent: Credits,
})
const SponsorResponseSchema = Type.Object({ sponsor: nullable(SponsorSchema) })

const operation = operationsOf('Playing')
const limits = { textBytesMax: aiTextBytesMax, fileBytesMax: aiFileBytesMax }
/** The turn whose price the bar shows: a page of rules and history, and a paragraph of reply. */
const usualTurn = createUsage({ prompt: 1_500, completion: 400 })

/** Returns the owner of the account that would pay for a player. */
const ownerOf = ({ user, caller }: Visitor): Owner | undefined =>
  caller ? agentOwner(caller.agent.id) : user && walletOf(user.person)

/** Returns what a turn costs: as calls of the app were charged, or else as the model is priced. */
async function presentTurn(ctx: AppContext, app: App, model: Model | undefined, margin: number) {
  const measured = await findTurnCost(ctx, app.id)
  if (measured !== undefined) {
    return { turn: toCredits((measured * BigInt(100 + margin)) / 100n), isMeasured: true }
  }
  const price = model?.price && addMargin(model.price, margin)
  return { turn: price ? toCredits(chargeOf(price, usualTurn)) : null, isMeasured: false }
}

/** Describes the models of an app to its shell, for the person who plays. */
async function presentAi(ctx: AppContext, app: App, visitor: Visitor): Promise<AppAiBody> {
  const player = playerOf(visitor)
  const model = findAppModel(ctx, 'chat')
  const uses = await usesOf(ctx, app, 'ai')
  const margin = marginOf(ctx, app)
  const consent = player && (await consents.findConsent(ctx, app.id, player, { uses, margin }))
  const counterOf = visitor.caller ? consents.chatCounter : consents.playerCounter
  const counter = player && counterOf(app.id, player.id)
  const spent = counter && (await ledger.spentToday(ctx, counter))
  const owner = ownerOf(visitor)
  const balance = owner && (await ledger.balanceOf(ctx, owner))
  const isReady = consent !== undefined || (await isSponsored(ctx, app, visitor))
  const state = !model ? 'no_model' : isReady ? 'ready' : player ? 'ask' : 'sign_in'
  return {
    limits,
    state,
    uses,
    ...(await presentTurn(ctx, app, model, margin)),
    margin,
    isDemo: model?.id.startsWith('demo/') === true,
    dailyCap: consent ? toCredits(consent.dailyCap) : null,
    spent: spent ? toCredits(spent) : 0,
    available: balance ? toCredits(balance.available) : null,
    signIn: `/sign-in?next=${encodeURIComponent(`/a/${app.id}`)}`,
  }
}

const getAppAi = operation({
  id: 'get_app_ai',
  route: 'GET /apps/:id/ai',
  mcp: 'app',
  summary: 'Read what the models of an app may cost you, and what you agreed to.',
  description:
    'For the page around an app. The app itself sees only `limits`. Amounts are credits.',
  access: visitor,
  output: { 200: AppAiSchema },
  errors: [...appErrors, 'busy', 'account_suspended'],
  run: async (ctx, { caller, params, ...sender }) =>
    presentAi(ctx, await getPlayable(ctx, params.id, sender), caller),
})

const giveConsent = operation({
  id: 'give_consent',
  route: 'PUT /apps/:id/consent',
  scope: 'spend',
  mcp: 'app',
  summary: 'Agree to what an app uses, with a cap for each day.',
  description: 'Only a press on the bar around an app sends it. It replaces an earlier consent.',
  access: signedIn,
  input: { body: ConsentRequestSchema },
  output: { 200: ConsentSchema },
  errors: [...writeErrors, ...appErrors, 'busy'],
  async run(ctx, { caller, params, body, ...sender }) {
    const { uses, dailyCap, margin = 0, remember } = body
    const app = await getPlayable(ctx, params.id, sender)
    const terms = { uses, dailyCap: fromCredits(dailyCap), margin, isRemembered: remember }
    // In a chat an agent has no person.
    await consents.giveConsent(ctx, app.id, playerOf(caller) ?? caller.person, terms)
    return { app: app.id, uses, dailyCap, margin, remember }
  },
})

export const revokeConsent = operation({
  id: 'revoke_consent',
  route: 'DELETE /apps/:id/consent',
  mcp: 'hidden',
  summary: 'Withdraw what you agreed to for an app.',
  description: 'Its next call asks again. Calls that run now end and are charged.',
  access: signedIn,
  output: { 200: RevokedConsentSchema },
  errors: [...writeErrors],
  async run(ctx, { caller: { person }, params }) {
    return { app: params.id, revoked: await consents.revokeConsent(ctx, params.id, person) }
  },
})

/** Models for the players of an app (`service.ai`), and what the players agree to. */
export const aiOperations = [getAppAi, giveConsent, revokeConsent]

const sponsorOperation = operationsOf('Apps')

async function present(ctx: AppContext, app: string) {
  const found = await sponsors.findSponsor(ctx, app)
  if (!found) return { sponsor: null }
  const { dailyCap, playerCap } = found
  const spent = toCredits(await sponsors.spentBySponsor(ctx, app))
  return {
    sponsor: { dailyCap: toCredits(dailyCap), playerDailyCap: toCredits(playerCap), spent },
  }
}

const getSponsor = sponsorOperation({
  id: 'get_sponsor',
  route: 'GET /apps/:id/sponsor',
  summary: 'Read what you pay for the AI models of an app, and its caps.',
  access: agent,
  output: { 200: SponsorResponseSchema },
  errors: appErrors,
  run: async (ctx, { caller, params }) =>
    present(ctx, (await getOwnApp(ctx, caller.agent, params.id)).id),
})

const setSponsor = sponsorOperation({
  id: 'set_sponsor',
  route: 'PUT /apps/:id/sponsor',
  scope: 'spend',
  summary: 'Pay for the AI models of an app, up to a cap of each day and player.',
  description:
    'Players then need neither an account nor credits. Your credits pay, exactly, and never more ' +
    'than both caps. Beyond a cap, players pay as without a sponsor.',
  access: agent,
  input: { body: SponsorRequestSchema },
  output: { 200: SponsorResponseSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params, body }) {
    const app = await getOwnApp(ctx, caller.agent, params.id)
    const [dailyCap, playerCap] = [fromCredits(body.dailyCap), fromCredits(body.playerDailyCap)]
    const { max } = capFor(caller, dailyCap)
    if (max !== null && dailyCap > max)
      rejectRequest(
        `Your key may spend ${toCredits(max)} credits a day. Choose at most these.`,
        'dailyCap',
      )
    await sponsors.setSponsor(ctx, app.id, { dailyCap, playerCap })
    return present(ctx, app.id)
  },
})

const endSponsor = sponsorOperation({
  id: 'end_sponsor',
  route: 'DELETE /apps/:id/sponsor',
  summary: 'Stop paying for the AI models of an app.',
  access: agent,
  output: { 200: SponsorResponseSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params }) {
    const app = await getOwnApp(ctx, caller.agent, params.id)
    await ctx.db.tx((db) => sponsors.endSponsor(db, app.id))
    return present(ctx, app.id)
  },
})

/** Makers who pay for the models of their apps. */
export const sponsorOperations = [getSponsor, setSponsor, endSponsor]
