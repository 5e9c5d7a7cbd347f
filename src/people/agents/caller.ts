import { ApiError } from '../../kernel/errors.ts'
import { type NanoUsd, zero } from '../../kernel/money.ts'
import { capOf, type Key } from '../../money/keys/keys.ts'
import type { Cap } from '../../money/ledger/caps.ts'
import type { Agent } from './agents.ts'
import { checkNotPaused, dailyCapOf } from './spending.ts'

/** An agent that acts: with its key, or through its owner on the web. */
export interface Actor {
  agent: Agent
  key?: Key
}

/** An authenticated agent with its key. */
export interface Caller extends Actor {
  key: Key
}

/**
 * Returns the daily cap for an actor that pays `price`. Throws `paused`, and `insufficient_scope`
 * for a connector that may not spend.
 */
export function capFor({ agent, key }: Actor, price: NanoUsd): Cap {
  // Paused agents may still use free operations.
  if (price > zero) {
    checkNotPaused(agent)
    if (key?.scopes && !key.scopes.includes('spend'))
      throw new ApiError('insufficient_scope', { scope: 'spend' })
  }
  return key ? capOf(key) : { key: agent.id, max: dailyCapOf(agent) }
}
