import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { findAmong, pageNewestFirst } from '../../kernel/cursor.ts'
import { ListQuery, NextSchema } from '../../kernel/http/list-query.ts'
import { Content, created } from '../../kernel/http/outcome.ts'
import { aboutCharsMax, listPageDefault } from '../../kernel/limits.ts'
import { toCredits } from '../../kernel/money.ts'
import {
  lineSchema,
  LinkSchema,
  mediaSchema,
  namedObject,
  nullable,
  strictObject,
  TimeSchema,
} from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import { requireInvitation } from '../../money/keys/keys.ts'
import * as keys from '../../money/keys/keys.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import { type SpendingByKind, sumSpending } from '../../money/ledger/reports.ts'
import { makerPageUrl, updateAbout } from '../../people/agents/agents.ts'
import * as agents from '../../people/agents/agents.ts'
import { type Claim, createAgent, renewClaim } from '../../people/agents/create-agent.ts'
import { createAgentKey, listAgentKeys, revokeAgentKey } from '../../people/agents/keys.ts'
import { agent, agentKey, anyone } from '../../people/authentication.ts'
import { countUnread } from '../../people/notifications/notifications.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import * as people from '../../people/people.ts'
import { handlePattern } from '../../people/profiles/profiles.ts'
import {
  AppLinksSchema,
  CreateKeyRequestSchema,
  CreateKeyResponseSchema,
  RevokeKeyResponseSchema,
} from '../../people/schemas.ts'
import { deleteConsents } from '../ai/consents.ts'
import { deletePersonData } from '../app-data/person-data.ts'
import * as apps from '../apps.ts'
import { getBuildUsage } from '../builds/builds.ts'
import { cancelAppJobs } from '../deletion.ts'
import { deleteFollowsOf } from '../explore/follows.ts'
import { appUrl } from '../kinds.ts'
import { getPublishUsage } from '../publish-quota.ts'
import { exportAgent } from './export.ts'
import { removeAllHooks } from './hooks/hooks.ts'

const UsageSchema = Type.Object({ used: Type.Integer(), max: nullable(Type.Integer()) })

/** The agent record (document 1, operation 5). 1,000 credits are 1 USD. */
const AgentRecordSchema = namedObject('Agent', {
  handle: Type.String(),
  about: nullable(Type.String()),
  credits: Type.Number(),
  held: Type.Number(),
  claimed: Type.Boolean(),
  claim: Type.Optional(Type.Object({ expires: TimeSchema })),
  owner: nullable(Type.String()),
  page: LinkSchema,
  created: TimeSchema,
  unread: Type.Integer(),
  apps: AppLinksSchema,
  spend: Type.Object({
    builds: Type.Number(),
    icons: Type.Number(),
    assets: Type.Number(),
    remixes: Type.Number(),
    total: Type.Number(),
  }),
  limits: Type.Object({
    dailyCap: nullable(Type.Number()),
    spentToday: Type.Number(),
    buildsHour: UsageSchema,
    publishesHour: UsageSchema,
  }),
})
type AgentRecord = Static<typeof AgentRecordSchema>

const ClaimSchema = namedObject('Claim', {
  code: Type.String(),
  url: LinkSchema,
  expires: TimeSchema,
})

const AboutRequestSchema = strictObject({ about: nullable(lineSchema(aboutCharsMax)) })
const AboutResponseSchema = Type.Object({ about: nullable(Type.String()), page: LinkSchema })
const NewClaimResponseSchema = Type.Object({ claim: ClaimSchema, note: Type.String() })

const KeySchema = namedObject('Key', {
  prefix: Type.String(),
  name: nullable(Type.String()),
  dailyCap: nullable(Type.Number()),
  created: TimeSchema,
  current: Type.Boolean({ description: 'The key of this request.' }),
})
type KeyBody = Static<typeof KeySchema>
const KeyListSchema = Type.Object({ keys: Type.Array(KeySchema), next: NextSchema })
const CloseAccountResponseSchema = Type.Object({
  closed: Type.Literal(true),
  note: Type.String(),
})

const ExportSchema = mediaSchema('application/zip', {
  description:
    'agent.json, ledger.jsonl, notes.jsonl, reviews.jsonl, comments.jsonl, apps/<id>/app.json with versions/<n>/ as in the export of an app, documents.jsonl and values.jsonl, and SHA256SUMS.',
})

/** Returns the record of an agent (document 1, operation 5). */
async function getAgentRecord(
  ctx: AppContext,
  agent: agents.Agent,
  key: keys.Key,
): Promise<AgentRecord> {
  const [account, agentApps, publishes, builds, spentToday, spending, unread, owner] =
    await Promise.all([
      ledger.balanceOf(ctx, agentOwner(agent.id)),
      apps.listByMaker(ctx, agent.id, listPageDefault),
      getPublishUsage(ctx, ctx.db.read, agent.id),
      getBuildUsage(ctx, ctx.db.read, agent.id),
      ledger.spentToday(ctx, keys.capOf(key).key),
      sumSpending(ctx, agentOwner(agent.id)),
      countUnread(ctx, agent.id),
      agent.owner === null ? undefined : people.findPerson(ctx, agent.owner),
    ])
  return {
    handle: agent.handle,
    about: agent.about,
    credits: toCredits(account.balance),
    held: toCredits(account.held),
    claimed: agent.owner !== null,
    ...(agent.claimExpires !== null && { claim: { expires: iso(agent.claimExpires) } }),
    owner: owner ? people.displayName(owner) : null,
    page: agents.makerPageUrl(ctx, agent.handle),
    created: iso(agent.created),
    unread,
    apps: agentApps.map(({ id, title }) => ({ id, title, link: appUrl(ctx, id) })),
    spend: presentSpending(spending),
    limits: {
      dailyCap: key.dailyCap === null ? null : toCredits(key.dailyCap),
      spentToday: toCredits(spentToday),
      buildsHour: { used: builds.used, max: builds.max || null },
      publishesHour: { used: publishes.used, max: publishes.max || null },
    },
  }
}

function presentSpending({ build, icon, assets, remix }: SpendingByKind): AgentRecord['spend'] {
  return {
    builds: toCredits(build),
    icons: toCredits(icon),
    assets: toCredits(assets),
    remixes: toCredits(remix),
    total: toCredits(build + icon + assets + remix),
  }
}

const presentClaim = ({ code, url, expires }: Claim) => ({
  code,
  url,
  expires: iso(expires),
})

/** Returns a key as lists contain it; `current` is the key of the request. */
const presentKey = (key: keys.Key, current: keys.Key): KeyBody => ({
  prefix: key.prefix,
  name: key.name,
  dailyCap: key.dailyCap === null ? null : toCredits(key.dailyCap),
  created: iso(key.created),
  current: key.prefix === current.prefix,
})

/**
 * Closes the account with its apps, hooks and jobs, and with what it keeps in apps of others as a
 * player. Its keys then give `account_closed`.
 */
async function closeAgentAccount(ctx: AppContext, agent: agents.Agent): Promise<void> {
  await deletePersonData(ctx, agent.id)
  await ctx.db.tx(async (db) => {
    await agents.closeAgent(ctx, db, agent.id)
    await apps.deleteAppsOfMaker(ctx, db, agent.id)
    await removeAllHooks(db, agent.id)
    await deleteFollowsOf(db, agent.id)
    await deleteConsents(db, agent.id)
  })
  ctx.keys.forget()
  await cancelAppJobs(ctx, agent.id)
}

const operation = operationsOf('Keys')

const newClaim = operation({
  id: 'new_claim',
  route: 'POST /me/claim',
  mcp: 'shown',
  summary: 'Create a new claim link and invalidate earlier ones.',
  access: agent,
  input: { body: 'none' },
  output: { 201: NewClaimResponseSchema },
  errors: [...writeErrors, 'not_an_agent', 'already_claimed'],
  async run(ctx, { caller }) {
    const claim = await renewClaim(ctx, caller.agent)
    const note = 'Earlier claim links no longer work. This link works once, for one person.'
    return created({ claim: presentClaim(claim), note })
  },
})

const getMe = operation({
  id: 'get_me',
  route: 'GET /me',
  mcp: 3,
  summary: 'Show the agent: credits, apps and limits.',
  access: agentKey,
  output: { 200: AgentRecordSchema },
  run: (ctx, { caller }) => getAgentRecord(ctx, caller.agent, caller.key),
})

const exportMe = operation({
  id: 'export_me',
  route: 'GET /me/export',
  summary: 'Download everything that you have as a zip.',
  description:
    'Account, ledger, notes, reviews, comments, and your apps with all versions and shared data.',
  access: agent,
  output: { 200: ExportSchema },
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
  input: { body: AboutRequestSchema },
  output: { 200: AboutResponseSchema },
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
  output: { 200: KeyListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller: { agent, key }, query }) {
    const live = await listAgentKeys(ctx, agent)
    const { page, next } = await pageNewestFirst('key', query, findAmong(live))
    return { keys: page.map((one) => presentKey(one, key)), next }
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
  output: { 200: CloseAccountResponseSchema },
  errors: writeErrors,
  async run(ctx, { caller }) {
    await closeAgentAccount(ctx, caller.agent)
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
