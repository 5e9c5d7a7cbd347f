import { Elysia } from 'elysia'

import type { AppContext } from '../context.ts'
import { readJson } from '../core/body.ts'
import { type NanoUsd, zero } from '../core/money.ts'
import { checkPath } from '../core/path.ts'
import { ApiError } from '../errors.ts'
import { requestContextOf } from '../http/request-context.ts'
import { capOf, type Key, listOf as liveKeys } from '../keys/keys.ts'
import { keyText } from '../keys/sent.ts'
import type { Cap } from '../ledger/caps.ts'
import { keylessBodyBytesMax } from '../limits.ts'
import { type Agent, find } from './agents/agents.ts'
import { checkBuying } from './agents/spending.ts'
import { suspended } from './agents/suspension.ts'

/** Who calls: an agent, and the key it came with. */
export interface Caller {
  agent: Agent
  key: Key
}

const callers = new WeakMap<Request, Promise<Caller>>()

/**
 * The agent whose key a request carries (document 1, section 5), looked up once per request.
 * Refuses agents_off, no_key, bad_key, wrong_key_kind, account_closed, account_suspended.
 */
export function theCaller(ctx: AppContext, request: Request): Promise<Caller> {
  const known = callers.get(request)
  if (known) return known
  const caller = lookUp(ctx, request)
  callers.set(request, caller)
  return caller
}

/** What bounds a caller who is to pay so much. Refuses paused. */
export function capFor({ agent, key }: Caller, price: NanoUsd): Cap {
  // What is free is not bought.
  if (price > zero) checkBuying(agent)
  return capOf(key)
}

/** The same where a key may be left out. */
export const aCaller = async (ctx: AppContext, request: Request): Promise<Caller | undefined> =>
  keyText(request.headers) === undefined ? undefined : theCaller(ctx, request)

async function lookUp(ctx: AppContext, request: Request): Promise<Caller> {
  checkOpen(ctx)
  const key = await theKey(ctx, request)
  if (key.kind !== 'agent') throw new ApiError('wrong_key_kind', { kind: key.kind })
  const agent = await find(ctx, key.owner)
  if (!agent) throw new ApiError('bad_key')
  if (agent.closed !== null) throw new ApiError('account_closed')
  if (agent.suspended !== null) throw suspended(agent)
  return { agent, key }
}

/** Whether who called still may: no key that was revoked, of an agent closed or suspended. */
export const mayGoOn = async (ctx: AppContext, { agent, key }: Caller): Promise<boolean> =>
  (await liveKeys(ctx.db.read, agent.id)).some(
    ({ prefix, suspended }) => prefix === key.prefix && suspended === null,
  )

/** The live key of a request, of whatever kind. Refuses no_key, bad_key. */
export async function theKey(ctx: AppContext, request: Request): Promise<Key> {
  const text = keyText(request.headers)
  if (!text) throw new ApiError('no_key')
  const key = await ctx.keys.find(text)
  if (!key) throw new ApiError('bad_key')
  requestContextOf(request).keyPrefix = key.prefix
  if (key.revoked !== null && key.kind === 'agent') {
    const agent = await find(ctx, key.owner)
    throw new ApiError(agent && agent.closed !== null ? 'account_closed' : 'bad_key')
  }
  if (key.revoked !== null) throw new ApiError('bad_key')
  return key
}

type Check<Who> = (ctx: AppContext, request: Request) => Promise<Who>

/** Who calls is checked before the body is read or its shape looked at: keyless and bad is 401. */
export const keyed =
  <Who>(check: Check<Who>) =>
  (ctx: AppContext) =>
    new Elysia()
      .onParse({ as: 'scoped' }, async ({ request }) => {
        await check(ctx, request)
        return readJson(request)
      })
      .derive({ as: 'scoped' }, async ({ request, params }) => {
        const caller = await check(ctx, request)
        checkPath(params)
        return { caller }
      })

/** What every key operation stands on. */
export const withKey = keyed(theCaller)

/** The same, where a person's key is not_an_agent (document 1, operation 7). */
export const refusePersons = keyed(async (ctx, request) => {
  checkOpen(ctx)
  const key = await theKey(ctx, request)
  if (key.kind === 'person') throw new ApiError('not_an_agent')
  return theCaller(ctx, request)
})

/** What the open operations stand on. */
export const withoutKey = (ctx: AppContext) =>
  new Elysia()
    .onParse({ as: 'scoped' }, ({ request }) => {
      checkOpen(ctx)
      return readJson(request, keylessBodyBytesMax)
    })
    .derive({ as: 'scoped' }, ({ params }) => {
      checkOpen(ctx)
      checkPath(params)
      return {}
    })

export function checkOpen(ctx: AppContext): void {
  if (!ctx.config.agentsOn) throw new ApiError('agents_off')
}
