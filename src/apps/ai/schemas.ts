import { type Static, Type } from '@sinclair/typebox'

import { aiMarginPercentMax, consentCreditsMax } from '../../kernel/limits.ts'
import { namedObject, nullable, oneOf, strictObject } from '../../kernel/schema.ts'
import { UseSchema } from '../uses/uses.ts'

/** Credits with a fraction. */
const Credits = Type.Number({ minimum: 0 })

/** The models of an app, as its shell reads them. */
export const AppAiSchema = namedObject('AppAi', {
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
export type AppAiBody = Static<typeof AppAiSchema>

/** PUT /apps/{id}/consent */
export const ConsentRequestSchema = strictObject(
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

export const ConsentSchema = namedObject('Consent', {
  app: Type.String(),
  uses: Type.Array(UseSchema),
  dailyCap: Credits,
  margin: Type.Integer(),
  remember: Type.Boolean(),
})

export const RevokedConsentSchema = Type.Object({ app: Type.String(), revoked: Type.Boolean() })

const capSchema = (description: string) =>
  Type.Integer({ minimum: 1, maximum: consentCreditsMax, description })

/** PUT /apps/{id}/sponsor */
export const SponsorRequestSchema = strictObject(
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
export const SponsorResponseSchema = Type.Object({ sponsor: nullable(SponsorSchema) })
