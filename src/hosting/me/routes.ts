import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { among, newestFirst } from '../../core/cursor.ts'
import { iso } from '../../core/time.ts'
import { ListQuery } from '../../http/list-query.ts'
import { callerAddress } from '../../http/request-context.ts'
import { requireInvitation } from '../../keys/request-key.ts'
import * as agents from '../agents/agents.ts'
import { makerPageUrl } from '../agents/agents.ts'
import { type Claim, renewClaim } from '../agents/claims.ts'
import { createAgent } from '../agents/create-agent.ts'
import { createAgentKey, listAgentKeys, revokeAgentKey } from '../agents/keys.ts'
import { callerAuth } from '../authentication.ts'
import { agentOperation, publicOperation, writeErrors } from '../operation.ts'
import * as me from './me.ts'
import * as schemas from './schemas.ts'

const shown = ({ code, url, expires }: Claim) => ({ code, url, expires: iso(expires) })

/** Document 1, operation 4. */
const newAgent = (ctx: AppContext) =>
  new Elysia().use(callerAuth(ctx)).post(
    '/keys',
    async ({ body, request, status }) => {
      requireInvitation(ctx.config, request)
      const address = callerAddress(request)
      const made = await createAgent(ctx, body ?? {}, address)
      const agent = await me.getAgentRecord(ctx, made.agent, made.key)
      const note =
        'Keep the key, it is shown once, and send it as Authorization: Bearer <key>. ' +
        'Give the claim link to the person you work for.'
      return status(201, { agent, key: made.keyText, claim: shown(made.claim), note })
    },
    {
      body: Type.Optional(schemas.CreateAgentRequestSchema),
      ...publicOperation(
        {
          id: 'new_agent',
          tag: 'Keys',
          mcp: 2,
          summary: 'Make an agent account and its key.',
          more:
            'No sign-in. The key is shown once; the account begins with 400 free credits. The ' +
            'claim link makes a person its owner.',
        },
        { 201: schemas.CreateAgentResponseSchema },
        [
          'agents_off',
          ...writeErrors,
          'bad_handle',
          'handle_taken',
          'invite_only',
          'keys_address_limit',
          'keys_daily_limit',
        ],
      ),
    },
  )

/** Document 1, operation 7: a person's key is told that it is no agent, not that it is wrong. */
const newClaim = (ctx: AppContext) =>
  new Elysia().use(callerAuth(ctx)).post(
    '/me/claim',
    async ({ caller, status }) => {
      const claim = await renewClaim(ctx, caller.agent)
      const note = 'Earlier claim links have stopped working. This one works once, for a person.'
      return status(201, { claim: shown(claim), note })
    },
    {
      ...agentOperation(
        {
          id: 'new_claim',
          tag: 'Keys',
          mcp: 'shown',
          input: 'empty',
          summary: 'Make a new claim link; earlier ones stop working.',
        },
        { 201: schemas.NewClaimResponseSchema },
        [...writeErrors, 'not_an_agent', 'already_claimed'],
      ),
    },
  )

/** An agent's account and keys (document 1, operations 4 to 7, and /me/keys). */
export const meRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(newAgent(ctx))
    .use(newClaim(ctx))
    .use(callerAuth(ctx))
    .get(
      '/me',
      ({ caller }) => me.getAgentRecord(ctx, caller.agent, caller.key),
      agentOperation(
        { id: 'get_me', tag: 'Keys', mcp: 3, summary: 'The agent: credits, apps, limits.' },
        { 200: schemas.AgentRecordSchema },
      ),
    )
    .patch(
      '/me',
      async ({ caller, body }) => {
        const agent = await agents.updateAbout(ctx, caller.agent, body.about)
        return { about: agent.about, page: makerPageUrl(ctx, agent.handle) }
      },
      {
        body: schemas.AboutRequestSchema,
        ...agentOperation(
          {
            id: 'change_me',
            tag: 'Keys',
            mcp: 'shown',
            summary: 'Change the line about yourself.',
          },
          { 200: schemas.AboutResponseSchema },
          ['bad_request', 'too_large', 'not_ready'],
        ),
      },
    )
    .get(
      '/me/keys',
      async ({ caller: { agent, key }, query }) => {
        const live = await listAgentKeys(ctx, agent)
        const { page, next } = await newestFirst('key', query, among(live))
        return { keys: page.map((one) => me.presentKey(one, key)), next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          { id: 'list_keys', tag: 'Keys', summary: 'Your keys, newest first.' },
          { 200: schemas.KeyListSchema },
          ['bad_request'],
        ),
      },
    )
    .post(
      '/me/keys',
      async ({ caller, body, status }) => {
        const made = await createAgentKey(ctx, caller.agent, body?.name, caller.key)
        return status(201, { key: made.text, prefix: made.key.prefix })
      },
      {
        body: Type.Optional(schemas.CreateKeyRequestSchema),
        ...agentOperation(
          { id: 'add_key', tag: 'Keys', summary: 'Make another key of yours, to rotate.' },
          { 201: schemas.CreateKeyResponseSchema },
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
        { id: 'revoke_key', tag: 'Keys', summary: 'Revoke one of your keys.' },
        { 200: schemas.RevokeKeyResponseSchema },
        [...writeErrors, 'not_found', 'last_key'],
      ),
    )
    .delete(
      '/me',
      async ({ caller }) => {
        await me.closeAccount(ctx, caller.agent)
        return { closed: true as const, note: 'The account is closed and its links are gone.' }
      },
      agentOperation(
        { id: 'close_me', tag: 'Keys', summary: 'Close your account, with its apps.' },
        { 200: schemas.CloseAccountResponseSchema },
        writeErrors,
      ),
    )
