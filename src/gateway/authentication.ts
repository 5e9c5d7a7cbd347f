import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../kernel/context.ts'
import { ApiError, type GatewayErrorName } from '../kernel/errors.ts'
import type { Access, Sender } from '../kernel/http/operation.ts'
import { gatewayBodyBytesMax, keylessBodyBytesMax } from '../kernel/limits.ts'
import type { NanoUsd } from '../kernel/money.ts'
import { capOf, counterOf, type FoundKey, type Project, readApiKey } from '../money/keys/keys.ts'
import { identifyClient, projectCounter } from '../money/keys/restrictions.ts'
import { accountOf, type Owner } from '../money/ledger/accounts.ts'
import type { Budget, Cap, Period } from '../money/ledger/holds.ts'
import { acceptsStartCredits } from './models/catalog.ts'

export type AccountId = ReturnType<typeof accountOf>

/** The payer of a call: a gateway balance, or an agent's own credits. */
export interface Spender {
  owner: Owner
  account: AccountId
  /** Groups the calls of one caller: the prefix of a key, or the id of a balance. */
  callerId: string
  /** Daily spending limit, in the form that a hold takes. */
  cap: Cap
  /** The counter that its key shares with the other keys of a project. */
  group?: string | undefined
  /** The counter of the agent that pays for a caller who is not itself. */
  payer?: string | undefined
  /** Limits over several days, and limits of the project. */
  budgets?: Budget[]
  /** Ids and patterns of the models that it may use; null for all. */
  models?: string[] | null
  /** Limit of its key. Its calls add their tokens to it. */
  tokensPerMinute?: number | null
  /** Limit of its key, instead of RUNNING_REQUESTS_PER_KEY. */
  runningRequests?: number | null
  /** A margin on top of the prices, for somebody else. */
  margin?: Margin | undefined
  /** Called with the charge of a call that an upstream served. */
  onServed?: ((charge: NanoUsd) => void) | undefined
  /** `paid`: start credits do not pay here (START_CREDITS_ON_GATEWAY). */
  funds: 'any' | 'paid'
  /** Origin of the call, for the history. */
  source: 'api' | 'web'
}

/** A percentage that a caller pays above the prices, to an account that earns it with an item. */
export interface Margin {
  percent: number
  account: AccountId
  item: string
}

/** The payer of a call with a key. */
export interface KeySpender extends Spender {
  owner: Owner & { kind: 'agent' | 'gateway' }
  key: FoundKey
}

/**
 * Returns the owner of a gateway balance who spends without a key. The balance is the only limit.
 */
export const spenderOf = (owner: Owner): Spender => ({
  owner,
  account: accountOf(owner),
  callerId: owner.owner,
  funds: 'any',
  source: 'web',
  cap: { key: owner.owner, max: null },
})

/**
 * Returns the account that a request's key spends (document 2, section 5): a key of a gateway
 * account or of an agent. Throws no_key, bad_key.
 */
export async function getSpender(
  ctx: AppContext,
  { headers, context }: Pick<Sender, 'headers' | 'context'>,
): Promise<KeySpender> {
  const text = readApiKey(headers)
  if (!text) throw new ApiError('no_key')
  const spender = admitKey(ctx, await ctx.keys.find(text))
  identifyClient(ctx, context.client, spender.key)
  return spender
}

/**
 * Counts a call of a key, and returns its spender. Throws `bad_key`, `key_expired`, and `key_rate`
 * beyond its rates.
 */
export function admitKey(ctx: AppContext, found: FoundKey | undefined): KeySpender {
  const key = requireLiveKey(ctx, found)
  takeRate(ctx, key)
  const { kind } = key
  const owner = { kind, owner: key.owner }
  const free = key.kind === 'gateway' || acceptsStartCredits(ctx)
  return {
    owner,
    account: accountOf(owner),
    callerId: key.prefix,
    key,
    cap: capOf(key),
    group: key.project === null ? undefined : projectCounter(key.project),
    budgets: budgetsOf(key),
    models: key.models,
    tokensPerMinute: key.tokensPerMinute,
    runningRequests: key.runningRequests,
    funds: free ? 'any' : 'paid',
    source: 'api',
  }
}

/** Returns a key that may call. Throws `bad_key`, `key_expired`. */
export function requireLiveKey({ clock }: AppContext, key: FoundKey | undefined) {
  // The keys of a closed agent are revoked with it, those of a suspended one suspended.
  const isLive = key && key.revoked === null && key.suspended === null
  if (!isLive || key.kind === 'person') throw new ApiError('bad_key')
  if (key.expires !== null && key.expires <= clock.now()) {
    throw new ApiError('key_expired', { at: key.expires })
  }
  return { ...key, kind: key.kind }
}

/** Returns the budgets that a call with a key must respect, beside its daily cap. */
function budgetsOf(key: FoundKey): Budget[] {
  const { weeklyCap, monthlyCap, budget } = key
  const own = limitsOf(counterOf(key), 'key', [
    ['week', weeklyCap],
    ['month', monthlyCap],
  ])
  return budget ? [...own, ...projectBudgets(budget)] : own
}

const projectBudgets = ({ id, name, dailyCap, weeklyCap, monthlyCap }: Project): Budget[] =>
  limitsOf(projectCounter(id), `project ${name}`, [
    ['day', dailyCap],
    ['week', weeklyCap],
    ['month', monthlyCap],
  ])

const limitsOf = (counter: string, owner: string, limits: [Period, NanoUsd | null][]): Budget[] =>
  limits.flatMap(([period, max]) => (max === null ? [] : [{ counter, owner, period, max }]))

/** Counts a request of a key. Throws `key_rate` beyond its requests or tokens per minute. */
function takeRate({ state: { limits } }: AppContext, key: FoundKey): void {
  const { requestsPerMinute, tokensPerMinute } = key
  const counter = counterOf(key)
  if (tokensPerMinute !== null) {
    const { calls, resetAfter } = limits.keyTokens.left(counter, tokensPerMinute)
    if (calls === 0) throw rateError('tokens', tokensPerMinute, resetAfter)
  }
  if (requestsPerMinute === null) return
  const retryAfter = limits.keyRequests.take(counter, 1, requestsPerMinute)
  if (retryAfter !== undefined) throw rateError('requests', requestsPerMinute, retryAfter)
}

const rateError = (unit: string, max: number, retryAfter: number) =>
  new ApiError('key_rate', { unit, max, retryAfter })

const idempotencyHeader: OpenAPIV3.ParameterObject = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  description:
    'Names this request. A repeated request with the same body gets the same response and is charged once.',
  schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
}

/** The access of a gateway key or an agent key. */
export const key: Access<KeySpender, GatewayErrorName> = {
  auth: 'key',
  errors: ['no_key', 'bad_key', 'key_expired', 'key_rate', 'rate_limited'],
  security: [{ key: [] }],
  idempotencyHeader,
  identify: getSpender,
  payerOf: ({ owner, account, cap }) => (owner.kind === 'agent' ? { account, cap } : undefined),
  bodyBytesMax: gatewayBodyBytesMax,
}

/** The access of anyone, without a key. */
export const anyone: Access<undefined, GatewayErrorName> = {
  auth: 'none',
  errors: ['rate_limited'],
  security: [],
  identify: () => undefined,
  bodyBytesMax: keylessBodyBytesMax,
}
