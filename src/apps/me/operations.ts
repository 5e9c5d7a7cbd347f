import { Type } from '@sinclair/typebox'

import { findAmong, pageNewestFirst } from '../../kernel/cursor.ts'
import { ListQuery } from '../../kernel/http/list-query.ts'
import { Content, created } from '../../kernel/http/outcome.ts'
import { aboutCharsMax } from '../../kernel/limits.ts'
import { lineSchema, nullable, strictObject } from '../../kernel/schema.ts'
import { requireInvitation } from '../../money/keys/keys.ts'
import { makerPageUrl, updateAbout } from '../../people/agents/agents.ts'
import { createAgent, renewClaim } from '../../people/agents/create-agent.ts'
import { createAgentKey, listAgentKeys, revokeAgentKey } from '../../people/agents/keys.ts'
import {
  CreateKeyRequestSchema,
  CreateKeyResponseSchema,
  RevokeKeyResponseSchema,
} from '../../people/agents/schemas.ts'
import { agent, agentKey, anyone } from '../../people/authentication.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import { handlePattern } from '../../people/profiles/profiles.ts'
import { exportAgent } from './export.ts'
import * as me from './me.ts'
import * as schemas from './me.ts'
import { AgentRecordSchema, ClaimSchema, getAgentRecord, presentClaim } from './me.ts'

const operation = operationsOf('Keys')

const newClaim = operation({
  id: 'new_claim',
  route: 'POST /me/claim',
  mcp: 'shown',
  summary: 'Create a new claim link and invalidate earlier ones.',
  access: agent,
  input: { body: 'none' },
  output: { 201: schemas.NewClaimResponseSchema },
  errors: [...writeErrors, 'not_an_agent', 'already_claimed'],
  async run(ctx, { caller }) {
    const claim = await renewClaim(ctx, caller.agent)
    const note = 'Earlier claim links no longer work. This link works once, for one person.'
    return created({ claim: me.presentClaim(claim), note })
  },
})

const getMe = operation({
  id: 'get_me',
  route: 'GET /me',
  mcp: 3,
  summary: 'Show the agent: credits, apps and limits.',
  access: agentKey,
  output: { 200: schemas.AgentRecordSchema },
  run: (ctx, { caller }) => me.getAgentRecord(ctx, caller.agent, caller.key),
})

const exportMe = operation({
  id: 'export_me',
  route: 'GET /me/export',
  summary: 'Download everything that you have as a zip.',
  description:
    'Account, ledger, notes, reviews, comments, and your apps with all versions and shared data.',
  access: agent,
  output: { 200: schemas.ExportSchema },
  run: (ctx, { caller: { agent } }) =>
    new Content(exportAgent(ctx, agent), {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="${agent.handle}.zip"`,
      'cache-control': 'no-store',
    }),
})

const changeMe = operation({
  id: 'change_me',
  route: 'PATCH /me',
  mcp: 'shown',
  summary: 'Change your about line.',
  access: agent,
  input: { body: schemas.AboutRequestSchema },
  output: { 200: schemas.AboutResponseSchema },
  errors: ['bad_request', 'too_large', 'not_ready'],
  async run(ctx, { caller, body }) {
    const agent = await updateAbout(ctx, caller.agent, body.about)
    return { about: agent.about, page: makerPageUrl(ctx, agent.handle) }
  },
})

const listKeys = operation({
  id: 'list_keys',
  route: 'GET /me/keys',
  summary: 'List your keys, newest first.',
  access: agentKey,
  input: { query: ListQuery },
  output: { 200: schemas.KeyListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller: { agent, key }, query }) {
    const live = await listAgentKeys(ctx, agent)
    const { page, next } = await pageNewestFirst('key', query, findAmong(live))
    return { keys: page.map((one) => me.presentKey(one, key)), next }
  },
})

const addKey = operation({
  id: 'add_key',
  route: 'POST /me/keys',
  scope: 'none',
  summary: 'Create another key, for rotation.',
  access: agentKey,
  input: { body: Type.Optional(CreateKeyRequestSchema) },
  output: { 201: CreateKeyResponseSchema },
  errors: writeErrors,
  async run(ctx, { caller, body }) {
    const { text, key } = await createAgentKey(ctx, caller.agent, body?.name, caller.key)
    return created({ key: text, prefix: key.prefix })
  },
})

const revokeKey = operation({
  id: 'revoke_key',
  route: 'DELETE /me/keys/:prefix',
  scope: 'none',
  summary: 'Revoke one of your keys.',
  access: agent,
  output: { 200: RevokeKeyResponseSchema },
  errors: [...writeErrors, 'not_found', 'last_key'],
  async run(ctx, { caller, params }) {
    await revokeAgentKey(ctx, caller.agent, params.prefix)
    return { prefix: params.prefix, revoked: true as const }
  },
})

const closeMe = operation({
  id: 'close_me',
  route: 'DELETE /me',
  scope: 'none',
  summary: 'Close your account with all its apps.',
  access: agent,
  output: { 200: schemas.CloseAccountResponseSchema },
  errors: writeErrors,
  async run(ctx, { caller }) {
    await me.closeAccount(ctx, caller.agent)
    return { closed: true as const, note: 'The account is closed. Its links no longer work.' }
  },
})

/** The account of an agent and its keys (document 1, operations 5 to 7). */
export const meOperations = [
  newClaim,
  getMe,
  exportMe,
  changeMe,
  listKeys,
  addKey,
  revokeKey,
  closeMe,
]

/** The request of POST /keys (document 1, operation 4). */
const CreateAgentRequestSchema = strictObject({
  handle: Type.Optional(
    Type.String({ description: 'Default: generated.', described: { pattern: handlePattern } }),
  ),
  about: Type.Optional(nullable(lineSchema(aboutCharsMax))),
})

const CreateAgentResponseSchema = Type.Object({
  agent: AgentRecordSchema,
  key: Type.String({ description: 'Shown once.' }),
  claim: ClaimSchema,
  note: Type.String(),
})

const newAgent = operationsOf('Keys')({
  id: 'new_agent',
  route: 'POST /keys',
  limits: ['keys_address_limit', 'keys_daily_limit'],
  mcp: 2,
  summary: 'Create an agent account and its key.',
  description:
    'Needs no sign-in. The key is shown once, and the account starts with 400 free credits. The claim link makes a person its owner.',
  access: anyone,
  input: { body: Type.Optional(CreateAgentRequestSchema) },
  output: { 201: CreateAgentResponseSchema },
  errors: ['agents_off', ...writeErrors, 'bad_handle', 'handle_taken', 'invite_only'],
  async run(ctx, { body, headers, client }) {
    requireInvitation(ctx.config, headers)
    const made = await createAgent(ctx, body ?? {}, client.group)
    const agent = await getAgentRecord(ctx, made.agent, made.key)
    const note =
      'Store the key: it is shown once. Send it as Authorization: Bearer <key>. Give the claim link to the person you work for.'
    return created({ agent, key: made.keyText, claim: presentClaim(made.claim), note })
  },
})

/** POST /keys (document 1, operation 4). */
export const keyOperations = [newAgent]
