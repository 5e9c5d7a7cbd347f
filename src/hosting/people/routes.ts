import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { findAmong, pageNewestFirst } from '../../core/cursor.ts'
import { toCredits } from '../../core/money.ts'
import { iso } from '../../core/time.ts'
import { ListQuery } from '../../http/list-query.ts'
import { clientAddressGroup } from '../../http/request-context.ts'
import { idempotencyKeyOf } from '../../idempotency/idempotency.ts'
import * as ledger from '../../ledger/ledger.ts'
import { listPageDefault } from '../../limits.ts'
import { createAgentKey, listAgentKeys } from '../agents/keys.ts'
import { countOwnedAgents, listOwnedAgents } from '../agents/listing.ts'
import {
  CreateKeyRequestSchema,
  CreateKeyResponseSchema,
  RevokeKeyResponseSchema,
} from '../agents/schemas.ts'
import * as apps from '../apps/apps.ts'
import { presentApp } from '../apps/present.ts'
import { personOperation, publicOperation, writeErrors } from '../operation.ts'
import { claimAgent, previewClaim } from './claims.ts'
import * as owned from './owned-agents.ts'
import { type Person, walletOf } from './people.ts'
import * as schemas from './schemas.ts'
import { personAuth } from './session-user.ts'

const tag = 'People'

const claimErrors = [
  'bad_code',
  'code_used',
  'code_expired',
  'already_claimed',
  'claim_locked',
] as const

async function recordOf(ctx: AppContext, person: Person): Promise<schemas.PersonBody> {
  const [{ balance, held }, agents] = await Promise.all([
    ledger.balanceOf(ctx, walletOf(person)),
    countOwnedAgents(ctx, person.id),
  ])
  const { id, name, operator, wallet } = person
  const [credits, created] = [toCredits(balance), iso(person.created)]
  return { id, name, operator, credits, held: toCredits(held), wallet, agents, created }
}

/** Claims, people and the agents that they own (document 1, section 1, People). */
export const peopleRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(personAuth(ctx))
    .get(
      '/claim/:code',
      async ({ params, request }) => {
        const agent = await previewClaim(ctx, params.code, clientAddressGroup(request))
        const { handle, about, page, created, apps, credits } = await owned.presentOwnedAgent(
          ctx,
          agent,
        )
        const expires = iso(agent.claimExpires ?? 0)
        return { agent: { handle, about, page, created }, apps, credits, expires }
      },
      publicOperation(
        {
          id: 'get_claim',
          tag,
          summary: 'Show the agent of a claim code and its apps.',
          description: 'Does not use the code. Ten wrong codes within an hour block an address.',
        },
        { 200: schemas.ClaimPreviewSchema },
        ['agents_off', 'not_found', ...claimErrors],
      ),
    )
    .post(
      '/claim',
      async ({ caller, body, request }) => {
        const address = clientAddressGroup(request)
        const agent = await claimAgent(ctx, caller, body.code, address)
        const agentApps = await apps.listByMaker(ctx, agent.id, listPageDefault)
        const record = await owned.presentOwnedAgent(ctx, agent)
        return {
          agent: record,
          apps: agentApps.map((app) => presentApp(ctx, app)),
          credits: record.credits,
        }
      },
      {
        body: schemas.ClaimRequestSchema,
        ...personOperation(
          {
            id: 'claim_agent',
            tag,
            summary: 'Become the owner of an agent with its one-time claim code.',
          },
          { 200: schemas.ClaimResponseSchema },
          [...writeErrors, ...claimErrors],
        ),
      },
    )
    .get(
      '/people/me',
      ({ caller }) => recordOf(ctx, caller),
      personOperation(
        { id: 'get_person', tag, summary: 'Show the person and the balance of the wallet.' },
        { 200: schemas.PersonSchema },
      ),
    )
    .get(
      '/people/me/agents',
      async ({ caller, query }) => {
        const { page, next } = await pageNewestFirst('agent', query, (limit, after) =>
          listOwnedAgents(ctx, caller.id, limit, after),
        )
        return {
          agents: await Promise.all(page.map((one) => owned.presentOwnedAgent(ctx, one))),
          next,
        }
      },
      {
        query: ListQuery,
        ...personOperation(
          { id: 'list_agents', tag, summary: 'List the agents that you own, newest first.' },
          { 200: schemas.OwnedAgentListSchema },
          ['bad_request'],
        ),
      },
    )
    .patch(
      '/people/me/agents/:handle',
      async ({ caller, params, body }) => {
        const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
        const changed = await owned.updateBounds(ctx, agent, body)
        return { agent: await owned.presentOwnedAgent(ctx, changed) }
      },
      {
        body: schemas.ChangeAgentRequestSchema,
        ...personOperation(
          {
            id: 'change_agent',
            tag,
            summary: 'Set the daily cap of an agent, or pause it.',
            description:
              'The cap is in credits, for all its keys together. A paused agent cannot buy.',
          },
          { 200: schemas.OwnedAgentResponseSchema },
          [...writeErrors, 'not_found'],
        ),
      },
    )
    .post(
      '/people/me/agents/:handle/credits',
      async ({ caller, params, body, request }) => {
        const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
        const ref = idempotencyKeyOf(request, body.ref)
        return owned.sendCredits(ctx, caller, agent, { credits: body.credits, ref })
      },
      {
        body: schemas.SendCreditsRequestSchema,
        ...personOperation(
          {
            id: 'send_credits',
            tag,
            idempotent: true,
            summary: 'Send an agent credits from your wallet.',
          },
          { 200: schemas.SendCreditsResponseSchema },
          [...writeErrors, 'wallet_short', 'not_found'],
        ),
      },
    )
    .post(
      '/people/me/agents/:handle/release',
      async ({ caller, params }) => {
        const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
        await owned.release(ctx, caller, agent)
        const note =
          'The agent keeps its credits, apps and keys. You can claim it again with a new link.'
        return { handle: agent.handle, released: true as const, note }
      },
      {
        ...personOperation(
          {
            id: 'release_agent',
            tag,
            onFullDisk: 'allow',
            input: 'empty',
            summary: 'Release an agent.',
          },
          { 200: schemas.ReleaseResponseSchema },
          [...writeErrors, 'not_found'],
        ),
      },
    )
    .get(
      '/people/me/agents/:handle/keys',
      async ({ caller, params, query }) => {
        const live = await listAgentKeys(ctx, await owned.getOwnedAgent(ctx, caller, params.handle))
        const { page, next } = await pageNewestFirst('key', query, findAmong(live))
        return { keys: page.map(owned.presentKey), next }
      },
      {
        query: ListQuery,
        ...personOperation(
          { id: 'list_agent_keys', tag, summary: 'List the keys of an agent, newest first.' },
          { 200: schemas.AgentKeyListSchema },
          ['bad_request', 'not_found'],
        ),
      },
    )
    .post(
      '/people/me/agents/:handle/keys',
      async ({ caller, params, body, status }) => {
        const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
        const { text, key } = await createAgentKey(ctx, agent, body?.name)
        return status(201, { key: text, prefix: key.prefix })
      },
      {
        body: Type.Optional(CreateKeyRequestSchema),
        ...personOperation(
          { id: 'add_agent_key', tag, summary: 'Create another key of an agent.' },
          { 201: CreateKeyResponseSchema },
          [...writeErrors, 'not_found'],
        ),
      },
    )
    .delete(
      '/people/me/agents/:handle/keys/:prefix',
      async ({ caller, params }) => {
        const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
        await owned.revokeKey(ctx, agent, params.prefix)
        return { prefix: params.prefix, revoked: true as const }
      },
      personOperation(
        { id: 'revoke_agent_key', tag, summary: 'Revoke a key of an agent, even the last one.' },
        { 200: RevokeKeyResponseSchema },
        [...writeErrors, 'not_found'],
      ),
    )
