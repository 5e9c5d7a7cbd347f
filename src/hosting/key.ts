import { Elysia } from 'elysia'

import { readJson } from '../core/body.ts'
import { type Nano, zero } from '../core/money.ts'
import { checkPath } from '../core/path.ts'
import { visitOf } from '../core/visit.ts'
import type { House } from '../house.ts'
import { capOf, type Key, listOf as liveKeys } from '../keys/keys.ts'
import { keyText } from '../keys/sent.ts'
import type { Cap } from '../ledger/caps.ts'
import { keylessBodyBytesMax } from '../limits.ts'
import { Refusal } from '../refusals.ts'
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
export function theCaller(house: House, request: Request): Promise<Caller> {
  const known = callers.get(request)
  if (known) return known
  const caller = lookUp(house, request)
  callers.set(request, caller)
  return caller
}

/** What bounds a caller who is to pay so much. Refuses paused. */
export function capFor({ agent, key }: Caller, price: Nano): Cap {
  // What is free is not bought.
  if (price > zero) checkBuying(agent)
  return capOf(key)
}

/** The same where a key may be left out. */
export const aCaller = async (house: House, request: Request): Promise<Caller | undefined> =>
  keyText(request.headers) === undefined ? undefined : theCaller(house, request)

async function lookUp(house: House, request: Request): Promise<Caller> {
  checkOpen(house)
  const key = await theKey(house, request)
  if (key.kind !== 'agent') throw new Refusal('wrong_key_kind', { kind: key.kind })
  const agent = await find(house, key.owner)
  if (!agent) throw new Refusal('bad_key')
  if (agent.closed !== null) throw new Refusal('account_closed')
  if (agent.suspended !== null) throw suspended(agent)
  return { agent, key }
}

/** Whether who called still may: no key that was revoked, of an agent closed or suspended. */
export const mayGoOn = async (house: House, { agent, key }: Caller): Promise<boolean> =>
  (await liveKeys(house.db.read, agent.id)).some(
    ({ prefix, suspended }) => prefix === key.prefix && suspended === null,
  )

/** The live key of a request, of whatever kind. Refuses no_key, bad_key. */
export async function theKey(house: House, request: Request): Promise<Key> {
  const text = keyText(request.headers)
  if (!text) throw new Refusal('no_key')
  const key = await house.keys.find(text)
  if (!key) throw new Refusal('bad_key')
  visitOf(request).keyPrefix = key.prefix
  if (key.revoked !== null && key.kind === 'agent') {
    const agent = await find(house, key.owner)
    throw new Refusal(agent && agent.closed !== null ? 'account_closed' : 'bad_key')
  }
  if (key.revoked !== null) throw new Refusal('bad_key')
  return key
}

type Check<Who> = (house: House, request: Request) => Promise<Who>

/** Who calls is checked before the body is read or its shape looked at: keyless and bad is 401. */
export const keyed =
  <Who>(check: Check<Who>) =>
  (house: House) =>
    new Elysia()
      .onParse({ as: 'scoped' }, async ({ request }) => {
        await check(house, request)
        return readJson(request)
      })
      .derive({ as: 'scoped' }, async ({ request, params }) => {
        const caller = await check(house, request)
        checkPath(params)
        return { caller }
      })

/** What every key operation stands on. */
export const withKey = keyed(theCaller)

/** The same, where a person's key is not_an_agent (document 1, operation 7). */
export const refusePersons = keyed(async (house, request) => {
  checkOpen(house)
  const key = await theKey(house, request)
  if (key.kind === 'person') throw new Refusal('not_an_agent')
  return theCaller(house, request)
})

/** What the open operations stand on. */
export const withoutKey = (house: House) =>
  new Elysia()
    .onParse({ as: 'scoped' }, ({ request }) => {
      checkOpen(house)
      return readJson(request, keylessBodyBytesMax)
    })
    .derive({ as: 'scoped' }, ({ params }) => {
      checkOpen(house)
      checkPath(params)
      return {}
    })

export function checkOpen(house: House): void {
  if (!house.config.agentsOn) throw new Refusal('agents_off')
}
