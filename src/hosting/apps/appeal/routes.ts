import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { iso } from '../../../core/time.ts'
import { callerAuth } from '../../authentication.ts'
import { agentOperation, writeErrors } from '../../operation.ts'
import { createAppeal } from './appeals.ts'
import { AppealResponseSchema, AppealSchema } from './schemas.ts'

/** Appeals of makers against takedowns and quarantines. */
export const appealRoutes = (ctx: AppContext) =>
  new Elysia().use(callerAuth(ctx)).post(
    '/apps/:id/appeal',
    async ({ caller, params, body, status }) => {
      const { id, app, text, at } = await createAppeal(ctx, caller.agent, params.id, body.text)
      const note = 'The operator reviews every appeal. GET /me/notes reports the decision.'
      return status(201, { appeal: { id, item: app, text, state: 'open', at: iso(at) }, note })
    },
    {
      body: AppealSchema,
      ...agentOperation(
        {
          id: 'appeal',
          tag: 'Moderation',
          summary: 'Appeal the takedown or quarantine of your app.',
          description: 'One appeal for each takedown or quarantine.',
        },
        { 201: AppealResponseSchema },
        [...writeErrors, 'not_found', 'nothing_to_appeal', 'appealed_already'],
      ),
    },
  )
