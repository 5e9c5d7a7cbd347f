import type { AppContext } from '../kernel/context.ts'
import { ApiError, type HostingErrorName } from '../kernel/errors.ts'
import type { Access, Operation, Sender } from '../kernel/http/operation.ts'
import type { RequestContext } from '../kernel/http/request-context.ts'
import { keylessBodyBytesMax } from '../kernel/limits.ts'
import type { Scope } from '../kernel/scopes.ts'
import { capOf, type FoundKey, type Key, list as listKeys, readApiKey } from '../money/keys/keys.ts'
import { identifyClient } from '../money/keys/restrictions.ts'
import { agentAccount } from '../money/ledger/accounts.ts'
import { type Agent, findAgent, suspensionError } from './agents/agents.ts'
import { recordKeyNetwork } from './agents/keys.ts'
import type { Actor, Caller } from './agents/spending.ts'
import { checkActive, findPerson } from './people.ts'

/**
 * Returns the agent whose key a request has (document 1, section 5). Throws agents_off, no_key,
 * bad_key, wrong_key_kind, account_closed, account_suspended.
 */
export async function getCaller(
  ctx: AppContext,
  sender: Sender,
  operation: Needs,
): Promise<Caller> {
  checkAgentsOn(ctx)
  const key = await getKey(ctx, sender)
  const isClaim = operation.errors.includes('not_an_agent')
  if (key.kind === 'person' && isClaim) throw new ApiError('not_an_agent')
  if (key.kind !== 'agent') throw new ApiError('wrong_key_kind', { kind: key.kind })
  const owner = await findAgent(ctx, key.owner)
  if (!owner) throw new ApiError('bad_key')
  if (owner.closed !== null) throw new ApiError('account_closed')
  if (owner.suspended !== null) throw suspensionError(owner)
  if (key.scopes !== null) await checkConnector(ctx, owner, key.scopes, operation)
  recordKeyNetwork(ctx, owner.id, sender.context.client)
  return { agent: owner, key }
}

/** The declared facts of an operation that decide who may call it. */
export type Needs = Pick<Operation, 'errors' | 'method' | 'scope'>

/** Returns the scope that a connector needs for an operation; `none` where it may not call it. */
export const scopeOf = ({ scope, method }: Needs): Scope | 'none' =>
  scope ?? (method === 'GET' ? 'read' : 'publish')

/**
 * Checks that the person of a connector still owns the agent, and allowed this operation. Throws
 * `bad_key`, `account_suspended` and `insufficient_scope`.
 */
async function checkConnector(
  ctx: AppContext,
  { owner }: Agent,
  scopes: readonly Scope[],
  operation: Needs,
): Promise<void> {
  const person = owner === null ? undefined : await findPerson(ctx, owner)
  if (!person) throw new ApiError('bad_key')
  checkActive(person)
  const scope = scopeOf(operation)
  if (scope === 'none' || !scopes.includes(scope))
    throw new ApiError('insufficient_scope', { scope })
}

/** Returns whether the key of a long-lived connection is still neither revoked nor suspended. */
export const isStillAuthorized = async (ctx: AppContext, caller: Caller): Promise<boolean> =>
  (await listKeys(ctx.db.read, caller.agent.id)).some(
    ({ prefix, suspended }) => prefix === caller.key.prefix && suspended === null,
  )

/** Returns the live key of a request, of any kind. Throws no_key, bad_key, account_closed. */
export async function getKey(ctx: AppContext, { headers, context }: Sender): Promise<Key> {
  const text = readApiKey(headers)
  if (!text) throw new ApiError('no_key')
  const key = await findSentKey(ctx, context, text)
  if (!key) throw new ApiError('bad_key')
  identifyClient(ctx, context.client, key)
  if (key.revoked === null) return key
  const owner = key.kind === 'agent' ? await findAgent(ctx, key.owner) : undefined
  throw new ApiError(owner && owner.closed !== null ? 'account_closed' : 'bad_key')
}

/**
 * Returns the key of a text that a request sent, revoked or not. The token of a connector works
 * for MCP alone, and until it expires.
 */
export async function findSentKey(
  ctx: AppContext,
  { acceptsTokens }: Pick<RequestContext, 'acceptsTokens'>,
  text: string,
): Promise<FoundKey | undefined> {
  const token = acceptsTokens ? await ctx.keys.findToken(text) : undefined
  if (!token) return ctx.keys.find(text)
  return (token.expires ?? 0) > ctx.clock.now() ? token : undefined
}

/** Errors of an agent key, which some public operations read. */
export const agentKeyErrors = [
  'agents_off',
  'no_key',
  'bad_key',
  'wrong_key_kind',
  'account_closed',
  'account_suspended',
  'insufficient_scope',
] as const

/**
 * The access of an agent key (document 1, section 7, group C). In operations with the error
 * `not_an_agent`, it replaces `wrong_key_kind` for a personal key (document 1, operation 7).
 */
export const agentKey: Access<Caller, HostingErrorName> = {
  auth: 'agent',
  errors: [...agentKeyErrors, 'rate_limited'],
  security: [{ key: [] }],
  identify: getCaller,
  payerOf: (caller) => ({ account: agentAccount(caller.agent.id), cap: capOf(caller.key) }),
}

/** The access of an agent: with its key, or through its owner on the web. */
export const agent: Access<Actor, HostingErrorName> = agentKey

/** The access of anyone. Only operations with the error `agents_off` need an open API. */
export const anyone: Access<undefined, HostingErrorName> = {
  auth: 'none',
  errors: ['rate_limited'],
  security: [],
  identify(ctx, _, { errors }) {
    if (errors.includes('agents_off')) checkAgentsOn(ctx)
    return undefined
  },
  bodyBytesMax: keylessBodyBytesMax,
}

/** The access of anyone, who may send an agent key to see more. */
export const reader: Access<Agent | undefined, HostingErrorName> = {
  ...anyone,
  async identify(ctx, sender, operation) {
    await anyone.identify(ctx, sender, operation)
    return findReader(ctx, sender, operation)
  },
}

/** Returns the agent of the key that is sent, if one is. Throws what `agent` throws. */
export const findReader = async (
  ctx: AppContext,
  sender: Sender,
  operation: Needs = { method: 'GET', errors: [] },
): Promise<Agent | undefined> =>
  readApiKey(sender.headers) === undefined
    ? undefined
    : (await getCaller(ctx, sender, operation)).agent

/** Throws `agents_off` where the Agent API is off. */
export function checkAgentsOn(ctx: AppContext): void {
  const off = findAgentsOff(ctx)
  if (off) throw off
}

/** Returns the error of an Agent API that is off. */
export const findAgentsOff = (ctx: AppContext): ApiError<'agents_off'> | undefined =>
  ctx.config.agentsOn ? undefined : new ApiError('agents_off')
