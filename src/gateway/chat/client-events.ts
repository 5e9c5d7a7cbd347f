import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import type { Envelope } from '../error-response.ts'
import { encodeEvent } from '../events.ts'
import type { Usage } from '../models/usage.ts'

export const presentUsage = ({ prompt, cached, completion, reasoning }: Usage) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
})

/**
 * Returns an upstream's usage for the client, with `cost` in USD when `charge` is known. It drops
 * the upstream's own cost, and has the charged counts where the reported ones were missing or
 * wrong.
 */
export function clientUsage(reported: unknown, usage: Usage, charge: NanoUsd | undefined): Json {
  const { cost: _cost, cost_details: _details, ...own } = recordOf(reported)
  const corrected = usage.estimated ? { ...own, ...presentUsage(usage) } : own
  return charge === undefined ? corrected : { ...corrected, cost: toUsd(charge) }
}

/**
 * Returns an upstream's completion for the client, with `usage.cost` in USD. Some clients require
 * `system_fingerprint`.
 */
export function withCost(completion: Json, usage: Usage, charge: NanoUsd): Json {
  const reported = clientUsage(completion.usage, usage, charge)
  return { system_fingerprint: null, ...completion, usage: reported }
}

/** Returns the last chunk of a stream without reported usage: like `latest`, without choices. */
export function usageChunk(latest: Json, usage: Usage, charge: NanoUsd): Uint8Array {
  const reported = clientUsage(presentUsage(usage), usage, charge)
  return encodeEvent({ ...latest, choices: [], usage: reported })
}

/**
 * The end of a stream. `empty`: [DONE] without content; `failed`: the upstream's own error event;
 * `broken`: cut, unreadable, or closed without [DONE].
 */
export type StreamEnd =
  'done' | 'empty' | 'filtered' | 'failed' | 'broken' | 'deadline' | 'shutdown' | 'client'

const partlyCharged = 'The prompt and the output until here were charged.'

const messages: { [E in Exclude<StreamEnd, 'done' | 'client'>]: string } = {
  empty: 'The model returned no content. Nothing was charged.',
  filtered: `The provider blocked this response under its content rules. ${partlyCharged}`,
  failed: `The provider failed during the response. ${partlyCharged}`,
  broken: `The provider's response broke off. ${partlyCharged}`,
  deadline: `The model exceeded the deadline. ${partlyCharged}`,
  shutdown: `The server stopped during the response. ${partlyCharged}`,
}

/** Returns the error event that ends a stream (document 2, section 6). No [DONE] follows it. */
export function errorEvent(end: keyof typeof messages): Uint8Array {
  const [type, code] =
    end === 'filtered'
      ? ['invalid_request_error', 'content_policy_violation']
      : ['api_error', 'upstream_stream_error']
  const body: Envelope = { error: { message: messages[end], type, param: null, code } }
  return encodeEvent(body)
}
