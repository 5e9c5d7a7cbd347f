import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { findAmong, pageNewestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../http/list-query.ts'
import { makerPageUrl, updateAbout } from '../agents/agents.ts'
import { renewClaim } from '../agents/claims.ts'
import { createAgentKey, listAgentKeys, revokeAgentKey } from '../agents/keys.ts'
import {
  CreateKeyRequestSchema,
  CreateKeyResponseSchema,
  RevokeKeyResponseSchema,
} from '../agents/schemas.ts'
import { callerAuth } from '../authentication.ts'
import { agentOperation, writeErrors } from '../operation.ts'
import * as me from './me.ts'
import * as schemas from './schemas.ts'

const tag = 'Keys'

/** The account of an agent and its keys (document 1, operations 5 to 7). */
export const meRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .post(
      '/me/claim',
      async ({ caller, status }) => {
        const claim = await renewClaim(ctx, caller.agent)
        const note = 'Earlier claim links no longer work. This link works once, for one person.'
        return status(201, { claim: me.presentClaim(claim), note })
      },
      {
        ...agentOperation(
          {
            id: 'new_claim',
            tag,
            mcp: 'shown',
            input: 'empty',
            summary: 'Create a new claim link and invalidate earlier ones.',
          },
          { 201: schemas.NewClaimResponseSchema },
          [...writeErrors, 'not_an_agent', 'already_claimed'],
        ),
      },
    )
    .get(
      '/me',
      ({ caller }) => me.getAgentRecord(ctx, caller.agent, caller.key),
      agentOperation(
        { id: 'get_me', tag, mcp: 3, summary: 'Show the agent: credits, apps and limits.' },
        { 200: schemas.AgentRecordSchema },
      ),
    )
    .patch(
      '/me',
      async ({ caller, body }) => {
        const agent = await updateAbout(ctx, caller.agent, body.about)
        return { about: agent.about, page: makerPageUrl(ctx, agent.handle) }
      },
      {
        body: schemas.AboutRequestSchema,
        ...agentOperation(
          { id: 'change_me', tag, mcp: 'shown', summary: 'Change your about line.' },
          { 200: schemas.AboutResponseSchema },
          ['bad_request', 'too_large', 'not_ready'],
        ),
      },
    )
    .get(
      '/me/keys',
      async ({ caller: { agent, key }, query }) => {
        const live = await listAgentKeys(ctx, agent)
        const { page, next } = await pageNewestFirst('key', query, findAmong(live))
        return { keys: page.map((one) => me.presentKey(one, key)), next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          { id: 'list_keys', tag, summary: 'List your keys, newest first.' },
          { 200: schemas.KeyListSchema },
          ['bad_request'],
        ),
      },
    )
    .post(
      '/me/keys',
      async ({ caller, body, status }) => {
        const { text, key } = await createAgentKey(ctx, caller.agent, body?.name, caller.key)
        return status(201, { key: text, prefix: key.prefix })
      },
      {
        body: Type.Optional(CreateKeyRequestSchema),
        ...agentOperation(
          { id: 'add_key', tag, summary: 'Create another key, for rotation.' },
          { 201: CreateKeyResponseSchema },
          writeErrors,
        ),
      },
    )
    .delete(
      '/me/keys/:prefix',
      async ({ caller, params }) => {
        await revokeAgentKey(ctx, caller.agent, params.prefix)
        return { prefix: params.prefix, revoked: true as const }
      },
      agentOperation(
        { id: 'revoke_key', tag, summary: 'Revoke one of your keys.' },
        { 200: RevokeKeyResponseSchema },
        [...writeErrors, 'not_found', 'last_key'],
      ),
    )
    .delete(
      '/me',
      async ({ caller }) => {
        await me.closeAccount(ctx, caller.agent)
        return { closed: true as const, note: 'The account is closed. Its links no longer work.' }
      },
      agentOperation(
        { id: 'close_me', tag, summary: 'Close your account with all its apps.' },
        { 200: schemas.CloseAccountResponseSchema },
        writeErrors,
      ),
    )
