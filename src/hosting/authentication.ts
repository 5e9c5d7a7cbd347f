import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { ApiError } from '../errors.ts'
import { operationHooks } from '../http/authentication.ts'
import type { Operation } from '../http/operation.ts'
import { getRequestContext } from '../http/request-context.ts'
import { identifyClient } from '../http/restrict.ts'
import { type Key, list as listKeys } from '../keys/keys.ts'
import { readApiKey } from '../keys/request-key.ts'
import { keylessBodyBytesMax } from '../limits.ts'
import { findAgent } from './agents/agents.ts'
import type { Caller } from './agents/caller.ts'
import { recordKeyNetwork } from './agents/key-networks.ts'
import { suspensionError } from './agents/suspension.ts'

declare module '../http/request-context.ts' {
  interface RequestContext {
    /** The authenticated agent of an Agent API request. */
    caller?: Caller
  }
}

/**
 * Returns the agent whose key a request has (document 1, section 5). Reads it once per request.
 * Throws agents_off, no_key, bad_key, wrong_key_kind, account_closed, account_suspended.
 */
async function getCaller(ctx: AppContext, request: Request, isClaim = false): Promise<Caller> {
  checkAgentsOn(ctx)
  const key = await getKey(ctx, request)
  if (key.kind === 'person' && isClaim) throw new ApiError('not_an_agent')
  if (key.kind !== 'agent') throw new ApiError('wrong_key_kind', { kind: key.kind })
  const agent = await findAgent(ctx, key.owner)
  if (!agent) throw new ApiError('bad_key')
  if (agent.closed !== null) throw new ApiError('account_closed')
  if (agent.suspended !== null) throw suspensionError(agent)
  recordKeyNetwork(ctx, agent.id, request)
  const caller = { agent, key }
  getRequestContext(request).caller = caller
  return caller
}

/** Returns the caller of an operation whose key is optional. Throws as an agent operation does. */
export const findCaller = async (ctx: AppContext, request: Request): Promise<Caller | undefined> =>
  readApiKey(request.headers) === undefined ? undefined : getCaller(ctx, request)

function authenticatedCaller(request: Request): Caller {
  const { caller } = getRequestContext(request)
  if (!caller) throw new Error('the request was not authenticated')
  return caller
}

/** Returns whether the key of a long-lived connection is still neither revoked nor suspended. */
export const isStillAuthorized = async (
  ctx: AppContext,
  { agent, key }: Caller,
): Promise<boolean> =>
  (await listKeys(ctx.db.read, agent.id)).some(
    ({ prefix, suspended }) => prefix === key.prefix && suspended === null,
  )

/** Returns the live key of a request, of any kind. Throws no_key, bad_key, account_closed. */
export async function getKey(ctx: AppContext, request: Request): Promise<Key> {
  const text = readApiKey(request.headers)
  if (!text) throw new ApiError('no_key')
  const key = await ctx.keys.find(text)
  if (!key) throw new ApiError('bad_key')
  identifyClient(ctx, request, key)
  if (key.revoked === null) return key
  const agent = key.kind === 'agent' ? await findAgent(ctx, key.owner) : undefined
  throw new ApiError(agent && agent.closed !== null ? 'account_closed' : 'bad_key')
}

/**
 * Adds the macros that authenticate operations of agents and public ones. `declaration.errors`
 * decides two details: `not_an_agent` replaces `wrong_key_kind` for a personal key (document 1,
 * operation 7), and only a public operation with `agents_off` needs an open API.
 */
export const callerAuth = (ctx: AppContext) =>
  new Elysia().macro({
    agent: (operation: Operation) => ({
      ...operationHooks(ctx, operation, {
        authenticate: (request) =>
          getCaller(ctx, request, operation.errors.includes('not_an_agent')),
      }),
      resolve: ({ request }: { request: Request }) => ({ caller: authenticatedCaller(request) }),
    }),
    public: (operation: Operation) =>
      operationHooks(ctx, operation, {
        authenticate: () => {
          if (operation.errors.includes('agents_off')) checkAgentsOn(ctx)
        },
        bodyBytesMax: keylessBodyBytesMax,
      }),
  })

/** Throws `agents_off` where the Agent API is off. */
export function checkAgentsOn(ctx: AppContext): void {
  if (!ctx.config.agentsOn) throw new ApiError('agents_off')
}
