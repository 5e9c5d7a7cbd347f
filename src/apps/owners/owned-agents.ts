import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, isApiError, rejectRequest } from '../../kernel/errors.ts'
import { completed } from '../../kernel/http/outcome.ts'
import { newId } from '../../kernel/ids.ts'
import { listPageDefault } from '../../kernel/limits.ts'
import { formatCredits, parseCredits, toCredits, zero } from '../../kernel/money.ts'
import { iso } from '../../kernel/time.ts'
import { type Sentence, sentence, t } from '../../kernel/words/message.ts'
import type { StoreResponse } from '../../money/idempotency/idempotency.ts'
import * as keys from '../../money/keys/keys.ts'
import { accountOf, agentAccount, agentOwner, findBalance } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import * as agents from '../../people/agents/agents.ts'
import {
  countOwnedAgents,
  isOwned,
  listAllOwnedAgents,
  suspensionError,
} from '../../people/agents/agents.ts'
import { updateLimits } from '../../people/agents/spending.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import { createOwnedAgent } from '../../people/claims.ts'
import { endConnectorsOf } from '../../people/connectors/connectors.ts'
import { notify } from '../../people/notifications/notifications.ts'
import {
  deletePerson,
  displayName,
  lockActivePerson,
  lockUnchangedPerson,
  type Person,
  walletOf,
} from '../../people/people.ts'
import { reauthenticate, type SignInClient } from '../../people/sign-in.ts'
import { deleteConsents } from '../ai/consents.ts'
import { deletePersonData } from '../app-data/person-data.ts'
import * as apps from '../apps.ts'
import { deleteFollowsBy } from '../explore/follows.ts'
import { deleteUsesBy } from '../explore/uses.ts'
import { appUrl, type Kind } from '../kinds.ts'
import { closeReports } from '../moderation/reports.ts'
import {
  type AgentKey,
  type OwnedAgent,
  type PersonBody,
  type SendCreditsResponse,
  SendCreditsResponseSchema,
} from './schemas.ts'

type Agent = agents.Agent

/** Returns a person's agent by handle, with or without @. Throws `not_found`. */
export async function getOwnedAgent(
  ctx: AppContext,
  person: Person,
  handle: string,
): Promise<Agent> {
  const agent = await agents.findByMention(ctx, handle)
  if (agent && agent.owner === person.id && agent.closed === null) return agent
  throw notOwned()
}

/**
 * Returns an agent as which its owner acts on the web. Throws `not_found`, and `account_suspended`
 * as the agent's key does.
 */
export async function getActingAgent(
  ctx: AppContext,
  person: Person,
  handle: string,
): Promise<Agent> {
  const agent = await getOwnedAgent(ctx, person, handle)
  if (agent.suspended !== null) throw suspensionError(agent)
  return agent
}

/**
 * Runs `work` in a transaction of the locked person, for one of their agents, or for a new one
 * where `handle` is undefined. Throws as `getActingAgent` and `createOwnedAgent` do.
 */
export async function actAs(
  ctx: AppContext,
  person: Person,
  { handle, address }: { handle: string | undefined; address: string },
  work: (db: Db, agent: Agent) => Promise<void>,
): Promise<Agent> {
  if (handle === undefined) return createOwnedAgent(ctx, person, {}, address, work)
  const agent = await getActingAgent(ctx, person, handle)
  await ctx.db.tx(async (db) => {
    await lockActivePerson(ctx, db, person.id)
    await work(db, agent)
  })
  return agent
}

/** Lists the agents as which a person can act on the web, oldest first. */
export async function listActingAgents({ db }: AppContext, person: Person): Promise<Agent[]> {
  const owned = await listAllOwnedAgents(db.read, person.id)
  return owned
    .filter(({ suspended }) => suspended === null)
    .toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))
}

/**
 * Returns the agent as which a person acts: the named one, or the oldest. Throws as
 * `getActingAgent` does, and `not_found` for a person without agents.
 */
export async function chooseActingAgent(
  ctx: AppContext,
  person: Person,
  handle: string | undefined,
): Promise<Agent> {
  if (handle !== undefined) return getActingAgent(ctx, person, handle)
  const [first] = await listActingAgents(ctx, person)
  if (first) return first
  throw new ApiError('not_found', {
    what: 'agent of yours',
    see: 'Create one on the page /agents.',
  })
}

const notOwned = () =>
  new ApiError('not_found', {
    what: 'agent',
    see: 'GET /people/me/agents lists the agents that you claimed.',
  })

/** Locks the ownership of an agent until the transaction ends. Throws `not_found`. */
async function lockOwned(db: Db, agent: Agent): Promise<void> {
  await keys.lockOwner(db, agent.id)
  if (!(await isOwned(db, agent))) throw notOwned()
}

export async function presentPerson(ctx: AppContext, person: Person): Promise<PersonBody> {
  const [{ balance, held }, agents] = await Promise.all([
    ledger.balanceOf(ctx, walletOf(person)),
    countOwnedAgents(ctx, person.id),
  ])
  const { id, name, operator, wallet, language } = person
  const [credits, created] = [toCredits(balance), iso(person.created)]
  return { id, name, operator, credits, held: toCredits(held), wallet, agents, language, created }
}

/** Returns an agent as its owner sees it. */
export async function presentOwnedAgent(ctx: AppContext, agent: Agent): Promise<OwnedAgent> {
  const [account, agentApps, spentToday] = await Promise.all([
    ledger.balanceOf(ctx, agentOwner(agent.id)),
    apps.listByMaker(ctx, agent.id, listPageDefault),
    ledger.spentToday(ctx, agent.id),
  ])
  return {
    handle: agent.handle,
    about: agent.about,
    credits: toCredits(account.balance),
    held: toCredits(account.held),
    dailyCap: agent.dailyCap === null ? null : toCredits(agent.dailyCap),
    spentToday: toCredits(spentToday),
    paused: agent.pausedBy !== null,
    page: agents.makerPageUrl(ctx, agent.handle),
    apps: agentApps.map(({ id, title }) => ({ id, title, link: appUrl(ctx, id) })),
    created: iso(agent.created),
  }
}

/** Limits that an owner sets for an agent. `dailyCap` is in credits; null means none. */
export interface Bounds {
  dailyCap?: number | null | undefined
  paused?: boolean | undefined
}

function describeBounds({ paused }: Bounds): Sentence {
  if (paused === undefined) return sentence('Your owner changed your daily cap.')
  return paused
    ? sentence('Your owner paused your purchases.')
    : sentence('Your owner lifted their pause of your purchases.')
}

/** Changes the cap of an agent, or pauses or resumes it. A pause by the operator stays. */
export async function updateBounds(ctx: AppContext, agent: Agent, bounds: Bounds): Promise<Agent> {
  const { dailyCap: credits, paused } = bounds
  if (credits === undefined && paused === undefined)
    rejectRequest('There is nothing to change. Send "dailyCap" or "paused".')
  const dailyCap =
    credits === undefined || credits === null ? null : parseCredits(credits, 'dailyCap')
  const changed = await ctx.db.tx(async (db) => {
    await lockOwned(db, agent)
    const limited = await updateLimits(db, agent.id, {
      ...(credits !== undefined && { dailyCap }),
      ...(paused !== undefined && { pause: { by: 'owner', isPaused: paused } }),
    })
    const text = describeBounds(bounds)
    await notify(ctx, db, { to: agent.id, kind: 'cap.changed', text, data: { ...bounds } })
    return limited
  })
  ctx.keys.forget()
  return changed ?? agent
}

/**
 * Sends credits from a person's wallet to an agent, once for each `ref`. Throws `not_found`,
 * `wallet_short`, `ref_conflict` and `busy`.
 */
export async function sendCredits(
  ctx: AppContext,
  person: Person,
  agent: Agent,
  { credits, ref }: { credits: number; ref?: string | undefined },
): Promise<SendCreditsResponse> {
  const amount = parseCredits(credits, 'credits')
  const request = { to: agent.id, credits }
  const give = (keep: StoreResponse) =>
    ctx.db.tx(async (db) => {
      await lockOwned(db, agent)
      const [from, account] = [accountOf(walletOf(person)), agentAccount(agent.id)]
      const gift = { from, to: [{ account, amount }], ref: `gift:${newId()}`, kind: 'gift' }
      await ledger.transfer(ctx, db, gift)
      const text = sentence('{person} sent you {credits} credits.', {
        person: displayName(person),
        credits: formatCredits(amount),
      })
      await notify(ctx, db, { to: agent.id, kind: 'credits.received', text, data: { credits } })
      const balanceOf = async (id: typeof from): Promise<number> =>
        toCredits((await findBalance(db, id))?.balance ?? zero)
      const body: SendCreditsResponse = {
        sent: credits,
        agent: { handle: agent.handle, credits: await balanceOf(account) },
        credits: await balanceOf(from),
        ref: ref ?? null,
      }
      return keep(db, completed(body))
    })
  const { value } = await ctx.idempotency.run(person.id, ref, request, give).catch(asWalletError)
  if (!Value.Check(SendCreditsResponseSchema, value))
    throw new Error('the stored response does not match its schema')
  return value
}

/** Replaces the error of agents by that of wallets. */
function asWalletError(error: unknown): never {
  if (!isApiError(error, 'not_enough_credits')) throw error
  throw new ApiError('wallet_short', ...error.details)
}

export const presentKey = ({ prefix, name, created }: keys.Key): AgentKey => ({
  prefix,
  name,
  created: iso(created),
})

/** Revokes a key of an agent, even the last: its owner can create another. Throws `not_found`. */
export async function revokeKey(ctx: AppContext, agent: Agent, prefix: string): Promise<void> {
  await ctx.db.tx(async (db) => {
    await lockOwned(db, agent)
    if (!(await keys.revoke(db, ctx.clock, agent.id, prefix))) {
      const see = `GET /people/me/agents/${agent.handle}/keys lists its keys.`
      throw new ApiError('not_found', { what: 'key', see })
    }
    const text = sentence('Your owner revoked the key {prefix}.', { prefix })
    await notify(ctx, db, { to: agent.id, kind: 'key.revoked', text, data: { prefix } })
  })
  ctx.keys.forget()
}

/** Releases an agent: it keeps its credits and apps and can be claimed with a new link. */
export async function release(ctx: AppContext, person: Person, agent: Agent): Promise<void> {
  await ctx.db.tx(async (db) => {
    await lockOwned(db, agent)
    await releaseWithin(ctx, db, person, agent)
  })
  ctx.keys.forget()
}

/** Releases an agent in a transaction. Call `ctx.keys.forget()` after the commit. */
export async function releaseWithin(
  ctx: AppContext,
  db: Db,
  person: Person,
  agent: Agent,
): Promise<void> {
  await endConnectorsOf(ctx, db, agent.id)
  await updateLimits(db, agent.id, {
    owner: null,
    dailyCap: keys.initialCap(ctx),
    pause: { by: 'owner', isPaused: false },
  })
  const text = sentence('{person} released you. A new claim link lets another person claim you.', {
    person: displayName(person),
  })
  await notify(ctx, db, { to: agent.id, kind: 'system', text })
}

/**
 * Deletes a person's account with its sign-in methods and with what the person keeps in apps as a
 * player, revokes its keys and releases its agents.
 * The wallet's balance stays in the ledger and cannot be spent. Throws `bad_request` for the
 * operator, and as `reauthenticate` does.
 */
export async function closeAccount(
  ctx: AppContext,
  person: Person,
  password: string,
  from: SignInClient,
): Promise<void> {
  if (person.operator)
    rejectRequest(
      'The account of the operator cannot be deleted. Make another person the operator first.',
    )
  const { same } = await reauthenticate(ctx, person, password, from)
  await deletePersonData(ctx, person.id)
  await ctx.db.tx(async (db) => {
    await lockUnchangedPerson(ctx, db, same)
    for (const agent of await listAllOwnedAgents(db, person.id))
      await releaseWithin(ctx, db, person, agent)
    await keys.lockOwner(db, person.wallet)
    for (const owner of [person.id, person.wallet]) await keys.revokeAll(db, ctx.clock, owner)
    await deleteUsesBy(db, person.id)
    await deleteFollowsBy(db, person.id)
    await deleteConsents(db, person.id)
    await closeReports(ctx, db, { person: person.id })
    await deletePerson(db, person.id)
    await recordAudit(ctx, db, { by: person.name, did: 'leave', item: person.name, why: '' })
  })
  ctx.keys.forget()
}

export interface OwnedApp {
  app: apps.App
  agent: agents.Agent
}

/** Finds an item of these kinds of the person's agents, in any state. */
export async function findOwnedItem(
  ctx: AppContext,
  person: Person,
  id: string,
  of: readonly Kind[],
): Promise<OwnedApp | undefined> {
  const found = await apps.findApp(ctx, id)
  const app = found && of.includes(found.kind) ? found : undefined
  const agent = app && (await agents.findAgent(ctx, app.maker))
  if (agent && agent.owner === person.id && agent.closed === null) return { app, agent }
  return undefined
}

/** Returns an item of these kinds of the person's agents, in any state. Throws `not_found`. */
export async function getOwnedItem(
  ctx: AppContext,
  person: Person,
  id: string,
  of: readonly Kind[],
): Promise<OwnedApp> {
  const found = await findOwnedItem(ctx, person, id, of)
  if (found) return found
  throw new ApiError('not_found', { what: 'app', see: t('Your studio lists your apps.') })
}
