import type { AppContext } from '../../kernel/context.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { fromCredits, toCredits } from '../../kernel/money.ts'
import { capFor } from '../../people/agents/caller.ts'
import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { getOwnApp } from '../apps.ts'
import { SponsorRequestSchema, SponsorResponseSchema } from './schemas.ts'
import * as sponsors from './sponsors.ts'

const operation = operationsOf('Apps')

async function present(ctx: AppContext, app: string) {
  const found = await sponsors.findSponsor(ctx, app)
  if (!found) return { sponsor: null }
  const { dailyCap, playerCap } = found
  const spent = toCredits(await sponsors.spentBySponsor(ctx, app))
  return {
    sponsor: { dailyCap: toCredits(dailyCap), playerDailyCap: toCredits(playerCap), spent },
  }
}

const getSponsor = operation({
  id: 'get_sponsor',
  route: 'GET /apps/:id/sponsor',
  summary: 'Read what you pay for the AI models of an app, and its caps.',
  access: agent,
  output: { 200: SponsorResponseSchema },
  errors: appErrors,
  run: async (ctx, { caller, params }) =>
    present(ctx, (await getOwnApp(ctx, caller.agent, params.id)).id),
})

const setSponsor = operation({
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

const endSponsor = operation({
  id: 'end_sponsor',
  route: 'DELETE /apps/:id/sponsor',
  summary: 'Stop paying for the AI models of an app.',
  access: agent,
  output: { 200: SponsorResponseSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params }) {
    const app = await getOwnApp(ctx, caller.agent, params.id)
    await sponsors.endSponsor(ctx, app.id)
    return present(ctx, app.id)
  },
})

/** Makers who pay for the models of their apps. */
export const sponsorOperations = [getSponsor, setSponsor, endSponsor]
