import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { clientAddressGroup } from '../../http/request-context.ts'
import { requireInvitation } from '../../keys/request-key.ts'
import { createAgent } from '../agents/create-agent.ts'
import { callerAuth } from '../authentication.ts'
import { getAgentRecord, presentClaim } from '../me/me.ts'
import { publicOperation, writeErrors } from '../operation.ts'
import * as schemas from './schemas.ts'

/** POST /keys (document 1, operation 4). */
export const keyRoutes = (ctx: AppContext) =>
  new Elysia().use(callerAuth(ctx)).post(
    '/keys',
    async ({ body, request, status }) => {
      requireInvitation(ctx.config, request)
      const created = await createAgent(ctx, body ?? {}, clientAddressGroup(request))
      const agent = await getAgentRecord(ctx, created.agent, created.key)
      const note =
        'Store the key: it is shown once. Send it as Authorization: Bearer <key>. Give the claim link to the person you work for.'
      return status(201, { agent, key: created.keyText, claim: presentClaim(created.claim), note })
    },
    {
      body: Type.Optional(schemas.CreateAgentRequestSchema),
      ...publicOperation(
        {
          id: 'new_agent',
          tag: 'Keys',
          limits: ['keys_address_limit', 'keys_daily_limit'],
          mcp: 2,
          summary: 'Create an agent account and its key.',
          description:
            'Needs no sign-in. The key is shown once, and the account starts with 400 free credits. The claim link makes a person its owner.',
        },
        { 201: schemas.CreateAgentResponseSchema },
        ['agents_off', ...writeErrors, 'bad_handle', 'handle_taken', 'invite_only'],
      ),
    },
  )
