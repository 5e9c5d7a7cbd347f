import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { among, newestFirst } from '../../core/cursor.ts'
import { toCredits } from '../../core/money.ts'
import { iso } from '../../core/time.ts'
import { ListQuery } from '../../http/list-query.ts'
import { callerAddress } from '../../http/request-context.ts'
import { idempotencyKeyOf } from '../../idempotency/idempotency.ts'
import * as ledger from '../../ledger/ledger.ts'
import { listPageDefault } from '../../limits.ts'
import { createAgentKey, listAgentKeys } from '../agents/keys.ts'
import { countOwnedAgents } from '../agents/listing.ts'
import * as apps from '../apps/apps.ts'
import { presentApp as presentApp } from '../apps/present.ts'
import { callerAuth } from '../authentication.ts'
import { idempotencyErrors, personOperation, publicOperation, writeErrors } from '../operation.ts'
import { claimAgent, previewClaim } from './claims.ts'
import * as owned from './owned-agents.ts'
import { type Person, walletOf } from './people.ts'
import * as schemas from './schemas.ts'
import { personAuth } from './session-user.ts'

const ofCode = ['bad_code', 'code_used', 'code_expired', 'already_claimed', 'claim_locked'] as const

/** Claims and people (document 1, section 1, People). */
export const peopleRoutes = (ctx: AppContext) =>
  new Elysia().use(lookRoutes(ctx)).use(claimRoutes(ctx)).use(ownedRoutes(ctx)).use(keyRoutes(ctx))

const lookRoutes = (ctx: AppContext) =>
  new Elysia().use(callerAuth(ctx)).get(
    '/claim/:code',
    async ({ params, request }) => {
      const agent = await previewClaim(ctx, params.code, callerAddress(request))
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
        tag: 'People',
        summary: 'What a claim code is for: the agent and what it made.',
        more: 'Looking does not use the code up. Ten wrong codes an hour from one address lock it.',
      },
      { 200: schemas.ClaimPreviewSchema },
      ['agents_off', ...ofCode],
    ),
  )

const claimRoutes = (ctx: AppContext) =>
  new Elysia().use(personAuth(ctx)).post(
    '/claim',
    async ({ caller, body, request }) => {
      const address = callerAddress(request)
      const agent = await claimAgent(ctx, caller, body.code, address)
      const made = await apps.listByMaker(ctx, agent.id, listPageDefault)
      const record = await owned.presentOwnedAgent(ctx, agent)
      const shown = made.map((app) => presentApp(ctx, app))
      return { agent: record, apps: shown, credits: record.credits }
    },
    {
      body: schemas.ClaimRequestSchema,
      ...personOperation(
        {
          id: 'claim_agent',
          tag: 'People',
          summary: 'Become the owner of an agent by its claim code, once.',
        },
        { 200: schemas.ClaimResponseSchema },
        [...writeErrors, ...ofCode],
      ),
    },
  )

async function recordOf(ctx: AppContext, person: Person): Promise<schemas.PersonBody> {
  const [{ balance, held }, agents] = await Promise.all([
    ledger.balanceOf(ctx, walletOf(person)),
    countOwnedAgents(ctx, person.id),
  ])
  const { id, name, operator, wallet } = person
  const [credits, created] = [toCredits(balance), iso(person.created)]
  return { id, name, operator, credits, held: toCredits(held), wallet, agents, created }
}

const ownedRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(personAuth(ctx))
    .get(
      '/people/me',
      ({ caller }) => recordOf(ctx, caller),
      personOperation(
        { id: 'get_person', tag: 'People', summary: 'The person, and what is in the wallet.' },
        { 200: schemas.PersonSchema },
      ),
    )
    .get(
      '/people/me/agents',
      async ({ caller, query }) => {
        const { page, next } = await newestFirst('agent', query, (limit, after) =>
          owned.list(ctx, caller, limit, after),
        )
        return {
          agents: await Promise.all(page.map((one) => owned.presentOwnedAgent(ctx, one))),
          next,
        }
      },
      {
        query: ListQuery,
        ...personOperation(
          { id: 'list_agents', tag: 'People', summary: 'The agents you claimed, newest first.' },
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
            tag: 'People',
            summary: 'Set what an agent may spend in a day, or pause it.',
            more: 'The cap is in credits and of all its keys together. A paused agent buys nothing.',
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
          { id: 'send_credits', tag: 'People', summary: 'Send an agent credits of your wallet.' },
          { 200: schemas.SendCreditsResponseSchema },
          [...writeErrors, ...idempotencyErrors, 'wallet_short', 'not_found'],
        ),
      },
    )
    .post(
      '/people/me/agents/:handle/release',
      async ({ caller, params }) => {
        const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
        await owned.release(ctx, caller, agent)
        const note =
          'It keeps its credits, apps and keys. A new claim link can make it yours again.'
        return { handle: agent.handle, released: true as const, note }
      },
      {
        ...personOperation(
          {
            id: 'release_agent',
            tag: 'People',
            onFullDisk: 'allow',
            input: 'empty',
            summary: 'Let an agent go.',
          },
          { 200: schemas.ReleaseResponseSchema },
          [...writeErrors, 'not_found'],
        ),
      },
    )

const keyRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(personAuth(ctx))
    .get(
      '/people/me/agents/:handle/keys',
      async ({ caller, params, query }) => {
        const live = await listAgentKeys(ctx, await owned.getOwnedAgent(ctx, caller, params.handle))
        const { page, next } = await newestFirst('key', query, among(live))
        return { keys: page.map(owned.presentKey), next }
      },
      {
        query: ListQuery,
        ...personOperation(
          { id: 'list_agent_keys', tag: 'People', summary: 'The keys of an agent, newest first.' },
          { 200: schemas.AgentKeyListSchema },
          ['bad_request', 'not_found'],
        ),
      },
    )
    .post(
      '/people/me/agents/:handle/keys',
      async ({ caller, params, body, status }) => {
        const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
        const made = await createAgentKey(ctx, agent, body?.name)
        return status(201, { key: made.text, prefix: made.key.prefix })
      },
      {
        body: Type.Optional(schemas.CreateAgentKeyRequestSchema),
        ...personOperation(
          { id: 'add_agent_key', tag: 'People', summary: 'Make another key of an agent.' },
          { 201: schemas.CreateAgentKeyResponseSchema },
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
        {
          id: 'revoke_agent_key',
          tag: 'People',
          summary: 'Revoke a key of an agent, the last too.',
        },
        { 200: schemas.RevokeAgentKeyResponseSchema },
        [...writeErrors, 'not_found'],
      ),
    )
