import { Elysia } from 'elysia'

import { acceptsStartCredits, type AppContext } from '../context.ts'
import { readJson } from '../core/body.ts'
import { checkPath } from '../core/path.ts'
import { ApiError } from '../errors.ts'
import { requestContextOf } from '../http/request-context.ts'
import { capOf, type Key } from '../keys/keys.ts'
import { keyText } from '../keys/sent.ts'
import { accountOf, type Owner } from '../ledger/accounts.ts'
import type { Cap } from '../ledger/caps.ts'
import { gatewayBodyBytesMax, keylessBodyBytesMax } from '../limits.ts'

export type AccountId = ReturnType<typeof accountOf>

/** Who pays for a call: a gateway balance, or an agent's own credits. */
export interface Spender {
  owner: Owner
  account: AccountId
  /** Whose calls count together: the prefix of a key, or the id of a balance. */
  caller: string
  /** What it may spend in a day, as a hold takes it. */
  cap: Cap
  /** `paid`: start credits do not pay here (START_CREDITS_ON_GATEWAY). */
  funds: 'any' | 'paid'
  /** Where the call came from, for the history. */
  source: 'api' | 'web'
}

/** Who pays by a key. */
export interface KeySpender extends Spender {
  key: Key
}

/** Who owns a gateway balance and spends it without a key: the balance is the only cap. */
export const spenderOf = (owner: Owner): Spender => ({
  owner,
  account: accountOf(owner),
  caller: owner.owner,
  funds: 'any',
  source: 'web',
  cap: { key: owner.owner, max: null },
})

const spenders = new WeakMap<Request, Promise<KeySpender>>()

/**
 * Who pays for a request, by its key (document 2, section 5), looked up once per request. Keys of
 * a gateway account and of an agent are accepted. Refuses no_key, bad_key.
 */
export function theSpender(ctx: AppContext, request: Request): Promise<KeySpender> {
  const known = spenders.get(request)
  if (known) return known
  const spender = lookUp(ctx, request)
  spenders.set(request, spender)
  return spender
}

async function lookUp(ctx: AppContext, request: Request): Promise<KeySpender> {
  const text = keyText(request.headers)
  if (!text) throw new ApiError('no_key')
  const key = await ctx.keys.find(text)
  // The keys of a closed agent are revoked with it, those of a suspended one suspended.
  const isLive = key && key.revoked === null && key.suspended === null
  if (!isLive || key.kind === 'person') throw new ApiError('bad_key')
  requestContextOf(request).keyPrefix = key.prefix
  const owner = { kind: key.kind, owner: key.owner }
  const free = key.kind === 'gateway' || acceptsStartCredits(ctx)
  return {
    owner,
    account: accountOf(owner),
    caller: key.prefix,
    key,
    cap: capOf(key),
    funds: free ? 'any' : 'paid',
    source: 'api',
  }
}

/** Stands for no body: told that there is none, the framework reads it again, and fails. */
const none = Symbol('no body')

async function readBody(request: Request, max: number): Promise<unknown> {
  const body = await readJson(request, max)
  return body === undefined ? none : body
}

function withoutNone(context: { body: unknown }): void {
  if (context.body === none) context.body = undefined
}

/**
 * What every key operation stands on: the key is checked before the body is read or its shape
 * looked at, so keyless and bad is 401.
 */
export const withKey = (ctx: AppContext) =>
  new Elysia()
    .onParse({ as: 'scoped' }, async ({ request }) => {
      await theSpender(ctx, request)
      return readBody(request, gatewayBodyBytesMax)
    })
    .onTransform({ as: 'scoped' }, withoutNone)
    .derive({ as: 'scoped' }, async ({ request, params }) => {
      const spender = await theSpender(ctx, request)
      checkPath(params)
      return { spender }
    })

/** What the open operations stand on. */
export const withoutKey = () =>
  new Elysia()
    .onParse({ as: 'scoped' }, ({ request }) => readBody(request, keylessBodyBytesMax))
    .onTransform({ as: 'scoped' }, withoutNone)
    .derive({ as: 'scoped' }, ({ params }) => {
      checkPath(params)
      return {}
    })
