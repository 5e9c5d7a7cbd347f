import { type NanoUsd, toUsd } from '../../core/money.ts'
import { recordOf } from '../../core/schema.ts'
import type { Usage } from '../../models/usage.ts'
import { eventOf } from './events.ts'

type Json = Record<string, unknown>

/** A usage in OpenAI's words. */
export const presentUsage = ({ prompt, cached, completion, reasoning }: Usage) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
})

/**
 * An upstream's usage as it goes to the client: without what the upstream was paid, which is not
 * what the client pays; with that, `cost` in USD, where it is told. Where the usage was missing or
 * wrong, the one that was charged stands there.
 */
export function toldUsage(said: unknown, usage: Usage, charge: NanoUsd | undefined): Json {
  const { cost: _cost, cost_details: _details, ...own } = recordOf(said)
  const right = usage.estimated ? { ...own, ...presentUsage(usage) } : own
  return charge === undefined ? right : { ...right, cost: toUsd(charge) }
}

/**
 * An upstream's answer as it goes to the client: its own, with `usage.cost` in USD. Some clients
 * read no answer that is without the name of what made it.
 */
export function withCost(answer: Json, usage: Usage, charge: NanoUsd): Json {
  return { system_fingerprint: null, ...answer, usage: toldUsage(answer.usage, usage, charge) }
}

/** The last chunk of a stream whose upstream told no usage: like `latest`, without choices. */
export function usageChunk(latest: Json, usage: Usage, charge: NanoUsd): Uint8Array {
  const told = toldUsage(presentUsage(usage), usage, charge)
  return eventOf({ ...latest, choices: [], usage: told })
}
