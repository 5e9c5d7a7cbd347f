import { Type } from '@sinclair/typebox'

import { findAmong, pageNewestFirst } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { ListQuery } from '../../kernel/http/list-query.ts'
import { Content, created, withCookies } from '../../kernel/http/outcome.ts'
import { listPageDefault } from '../../kernel/limits.ts'
import { iso } from '../../kernel/time.ts'
import { listOwnedAgents } from '../../people/agents/agents.ts'
import * as keys from '../../people/agents/keys.ts'
import { anyone } from '../../people/authentication.ts'
import * as claims from '../../people/claims.ts'
import { createOnce } from '../../people/keys.ts'
import { markRead } from '../../people/notifications/notifications.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import {
  ConfirmRequestSchema,
  CreateKeyRequestSchema,
  CreateKeyResponseSchema,
  done,
  DoneSchema,
  RevokeKeyResponseSchema,
} from '../../people/schemas.ts'
import { clearedSessionCookie, person, signedIn, visitor } from '../../people/session-user.ts'
import * as apps from '../apps.ts'
import { getPlayable } from '../audience/access.ts'
import { putCover } from '../covers/covers.ts'
import { CoverResponseSchema, PutImageSchema } from '../covers/schemas.ts'
import { markNewsRead } from '../explore/follows.ts'
import { decodeDataUrl } from '../icon/icon-image.ts'
import { appKinds } from '../kinds.ts'
import { presentApp } from '../present.ts'
import { remixErrors } from '../remix/operations.ts'
import { KeepRemixSchema, remix, RemixResponseSchema } from '../remix/remix.ts'
import { exportPerson as exportZip } from './export.ts'
import * as owned from './owned-agents.ts'
import { findOwnedItem, getActingAgent, getOwnedItem } from './owned-agents.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('People')

const claimErrors = [
  'bad_code',
  'code_used',
  'code_expired',
  'already_claimed',
  'claim_locked',
] as const

export const getClaim = operation({
  id: 'get_claim',
  route: 'GET /claim/:code',
  summary: 'Show the agent of a claim code and its apps.',
  description: 'Does not use the code. Ten wrong codes within an hour block an address.',
  access: anyone,
  output: { 200: schemas.ClaimPreviewSchema },
  errors: ['agents_off', 'not_found', ...claimErrors],
  async run(ctx, { params, client }) {
    const agent = await claims.previewClaim(ctx, params.code, client.group)
    const { handle, about, page, created, apps, credits } = await owned.presentOwnedAgent(
      ctx,
      agent,
    )
    const expires = iso(agent.claimExpires ?? 0)
    return { agent: { handle, about, page, created }, apps, credits, expires }
  },
})

export const claimAgent = operation({
  id: 'claim_agent',
  route: 'POST /claim',
  summary: 'Become the owner of an agent with its one-time claim code.',
  access: person,
  input: { body: schemas.ClaimRequestSchema },
  output: { 200: schemas.ClaimResponseSchema },
  errors: [...writeErrors, ...claimErrors],
  async run(ctx, { caller, body, client }) {
    const agent = await claims.claimAgent(ctx, caller, body.code, client.group)
    const agentApps = await apps.listByMaker(ctx, agent.id, listPageDefault)
    const record = await owned.presentOwnedAgent(ctx, agent)
    return {
      agent: record,
      apps: agentApps.map((app) => presentApp(ctx, app)),
      credits: record.credits,
    }
  },
})

const getPerson = operation({
  id: 'get_person',
  route: 'GET /people/me',
  summary: 'Show the person and the balance of the wallet.',
  access: person,
  output: { 200: schemas.PersonSchema },
  run: (ctx, { caller }) => owned.presentPerson(ctx, caller),
})

const exportPerson = operation({
  id: 'export_person',
  route: 'GET /people/me/export',
  summary: 'Download what the server keeps about you as a zip.',
  description: 'Account, sessions, wallet, follows, and what you keep in apps as a player.',
  access: person,
  output: { 200: schemas.PersonExportSchema },
  run(ctx, { caller }) {
    return new Content(exportZip(ctx, caller), {
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="berth-account.zip"',
      'cache-control': 'no-store',
    })
  },
})

const listAgents = operation({
  id: 'list_agents',
  route: 'GET /people/me/agents',
  summary: 'List the agents that you own, newest first.',
  access: person,
  input: { query: ListQuery },
  output: { 200: schemas.OwnedAgentListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller, query }) {
    const { page, next } = await pageNewestFirst('agent', query, (limit, after) =>
      listOwnedAgents(ctx, caller.id, limit, after),
    )
    return {
      agents: await Promise.all(page.map((one) => owned.presentOwnedAgent(ctx, one))),
      next,
    }
  },
})

export const createAgent = operation({
  id: 'create_owned_agent',
  route: 'POST /people/me/agents',
  limits: ['keys_address_limit', 'keys_daily_limit'],
  summary: 'Create an agent that you own. It has no key yet.',
  access: person,
  input: { body: Type.Optional(schemas.CreateOwnedAgentRequestSchema) },
  output: { 201: schemas.OwnedAgentResponseSchema },
  errors: [...writeErrors, 'bad_handle', 'handle_taken', 'invite_only'],
  async run(ctx, { caller, body, client }) {
    const agent = await claims.createOwnedAgent(ctx, caller, body ?? {}, client.group)
    return created({ agent: await owned.presentOwnedAgent(ctx, agent) })
  },
})

export const changeAgent = operation({
  id: 'change_agent',
  route: 'PATCH /people/me/agents/:handle',
  summary: 'Set the daily cap of an agent, or pause it.',
  description: 'The cap is in credits, for all its keys together. A paused agent cannot buy.',
  access: person,
  input: { body: schemas.ChangeAgentRequestSchema },
  output: { 200: schemas.OwnedAgentResponseSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params, body }) {
    const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
    const changed = await owned.updateBounds(ctx, agent, body)
    return { agent: await owned.presentOwnedAgent(ctx, changed) }
  },
})

export const sendCredits = operation({
  id: 'send_credits',
  route: 'POST /people/me/agents/:handle/credits',
  idempotent: true,
  summary: 'Send an agent credits from your wallet.',
  access: person,
  input: { body: schemas.SendCreditsRequestSchema },
  output: { 200: schemas.SendCreditsResponseSchema },
  errors: [...writeErrors, 'wallet_short', 'not_found'],
  async run(ctx, { caller, params, body, ref }) {
    const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
    return owned.sendCredits(ctx, caller, agent, { credits: body.credits, ref })
  },
})

export const releaseAgent = operation({
  id: 'release_agent',
  route: 'POST /people/me/agents/:handle/release',
  onFullDisk: 'allow',
  summary: 'Release an agent.',
  access: person,
  input: { body: 'none' },
  output: { 200: schemas.ReleaseResponseSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params }) {
    const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
    await owned.release(ctx, caller, agent)
    const note =
      'The agent keeps its credits, apps and keys. You can claim it again with a new link.'
    return { handle: agent.handle, released: true as const, note }
  },
})

const listAgentKeys = operation({
  id: 'list_agent_keys',
  route: 'GET /people/me/agents/:handle/keys',
  summary: 'List the keys of an agent, newest first.',
  access: person,
  input: { query: ListQuery },
  output: { 200: schemas.AgentKeyListSchema },
  errors: ['bad_request', 'not_found'],
  async run(ctx, { caller, params, query }) {
    const live = await keys.listAgentKeys(
      ctx,
      await owned.getOwnedAgent(ctx, caller, params.handle),
    )
    const { page, next } = await pageNewestFirst('key', query, findAmong(live))
    return { keys: page.map(owned.presentKey), next }
  },
})

export const addAgentKey = operation({
  id: 'add_agent_key',
  route: 'POST /people/me/agents/:handle/keys',
  idempotent: true,
  summary: 'Create another key of an agent.',
  access: person,
  input: { body: Type.Optional(CreateKeyRequestSchema) },
  output: { 201: CreateKeyResponseSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params, body, ref }) {
    const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
    const { text, key } = await createOnce(ctx, caller.id, ref, () =>
      keys.createAgentKey(ctx, agent, body?.name),
    )
    return created({ key: text, prefix: key.prefix })
  },
})

export const revokeAgentKey = operation({
  id: 'revoke_agent_key',
  route: 'DELETE /people/me/agents/:handle/keys/:prefix',
  summary: 'Revoke a key of an agent, even the last one.',
  access: person,
  output: { 200: RevokeKeyResponseSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params }) {
    const agent = await owned.getOwnedAgent(ctx, caller, params.handle)
    await owned.revokeKey(ctx, agent, params.prefix)
    return { prefix: params.prefix, revoked: true as const }
  },
})

export const readAllNotes = operation({
  id: 'read_all_notes',
  route: 'POST /people/me/notes/read',
  onFullDisk: 'allow',
  summary: 'Mark the notes of your agents, and the news of makers, as read.',
  access: person,
  input: { body: 'none' },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller }) {
    const agents = await owned.listActingAgents(ctx, caller)
    for (const { id } of agents) await markRead(ctx, id, 'all')
    await markNewsRead(ctx, caller.id)
    return done
  },
})

export const closeAccount = operationsOf('Sign-in')({
  id: 'close_account',
  route: 'POST /people/me/close',
  onFullDisk: 'allow',
  summary: 'Delete your account. This cannot be undone.',
  description: 'Revokes your keys and releases your agents. The balance of the wallet is lost.',
  access: signedIn,
  input: { body: ConfirmRequestSchema },
  output: { 200: DoneSchema },
  errors: [...writeErrors, 'bad_sign_in', 'sign_in_locked', 'sign_in_again', 'not_found'],
  async run(ctx, { caller: { person, session, client }, body: { password = '' } }) {
    if (!session) throw new ApiError('not_found', { what: 'session' })
    await owned.closeAccount(ctx, person, password, client)
    return withCookies(done, [clearedSessionCookie(ctx)])
  },
})

const keepRemix = operationsOf('Playing')({
  id: 'keep_remix',
  route: 'POST /apps/:id/keep',
  idempotent: true,
  scope: 'spend',
  mcp: 'hidden',
  summary: 'Keep the values that you turned as a remix of one of your agents.',
  description:
    'Only a press on the panel beside an app sends it. Agents send knobs to POST /apps/{id}/remix.',
  access: signedIn,
  input: { body: KeepRemixSchema },
  output: { 201: RemixResponseSchema },
  errors: [...remixErrors, 'publishes_limit'],
  async run(ctx, { caller: { person }, params, body: { as, ...request }, ref }) {
    const agent = await owned.chooseActingAgent(ctx, person, as)
    return created(await remix(ctx, { agent }, params.id, { ...request, ...(ref && { ref }) }))
  },
})

/** Claims, people and the agents that they own (document 1, section 1, People). */
export const peopleOperations = [
  getClaim,
  claimAgent,
  getPerson,
  exportPerson,
  listAgents,
  createAgent,
  changeAgent,
  sendCredits,
  releaseAgent,
  listAgentKeys,
  addAgentKey,
  revokeAgentKey,
  readAllNotes,
  closeAccount,
  keepRemix,
]

const coverOperation = operationsOf('Playing')

const getOwnCover = coverOperation({
  id: 'get_own_cover',
  route: 'GET /apps/:id/own-cover',
  mcp: 'hidden',
  summary: 'Tell whether the visitor may set the cover of an app.',
  description: 'For the page around an app: own is true for the owner of its maker.',
  access: visitor,
  output: { 200: Type.Object({ own: Type.Boolean() }) },
  errors: [...appErrors, 'busy'],
  async run(ctx, { caller: { user }, params, ...sender }) {
    await getPlayable(ctx, params.id, sender)
    const found = user && (await findOwnedItem(ctx, user.person, params.id, appKinds))
    return { own: found !== undefined }
  },
})

const putOwnCover = coverOperation({
  id: 'put_own_cover',
  route: 'PUT /apps/:id/own-cover',
  mcp: 'hidden',
  summary: 'Set a picture from a moment as the cover of an app of one of your agents.',
  description:
    'Only a press on the moment beside an app sends it. Agents send PUT /apps/{id}/cover.',
  access: signedIn,
  input: { body: PutImageSchema },
  output: { 200: CoverResponseSchema },
  errors: [...appErrors, 'bad_picture', ...writeErrors, 'too_big'],
  async run(ctx, { caller: { person }, params: { id }, body }) {
    const { agent } = await getOwnedItem(ctx, person, id, appKinds)
    const acting = await getActingAgent(ctx, person, agent.handle)
    return { cover: await putCover(ctx, acting, id, decodeDataUrl(body.image)) }
  },
})

/** The cover of an app as the owner of its maker sets it beside the app. */
export const ownCoverOperations = [getOwnCover, putOwnCover]
