import type { AppContext } from '../../kernel/context.ts'
import type { StoredResponse } from '../../kernel/http/outcome.ts'
import { sha256 } from '../../kernel/ids.ts'
import { isRecord, type Json, parseRecord, recordOf } from '../../kernel/schema.ts'
import { day, second } from '../../kernel/time.ts'
import { invalidField } from '../fields.ts'

/** The place of a chat's response in the cache, for chats with the field `cache`. */
export interface CacheSlot {
  key: string
  ttlMs: number
}

export const ttlSecondsMax = day / second

/**
 * Reads `cache: { ttl }` (seconds). Its key is that of the account and the rest of the body.
 * Returns undefined for a chat without it. Throws `bad_request`, also where the cache is off.
 */
export function readCacheSlot(
  { state }: AppContext,
  account: string,
  raw: unknown,
): CacheSlot | undefined {
  const { cache, ...body } = recordOf(raw)
  if (cache === undefined || cache === null || cache === false) return undefined
  const ttl = isRecord(cache) ? cache.ttl : undefined
  if (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < 1 || ttl > ttlSecondsMax) {
    throw invalidField('cache', `cache must be { "ttl": <seconds from 1 to ${ttlSecondsMax}> }.`)
  }
  if (!state.responseCache.isOn) {
    throw invalidField('cache', 'The response cache is off (RESPONSE_CACHE_MB). Remove cache.')
  }
  return { key: sha256(`${account} ${JSON.stringify(body)}`), ttlMs: ttl * second }
}

/** Returns a cached response as the client gets it again: it costs nothing. */
export function freeOfCharge({ status, body }: StoredResponse): StoredResponse {
  const { stream } = recordOf(body)
  if (typeof stream !== 'string') return { status, body: withoutCost(recordOf(body)) }
  const lines = stream.split('\n').map((line) => {
    const chunk = line.startsWith('data: {') ? parseRecord(line.slice(6)) : undefined
    return chunk?.usage ? `data: ${JSON.stringify(withoutCost(chunk))}` : line
  })
  return { status, body: { stream: lines.join('\n') } }
}

const withoutCost = (body: Json): Json =>
  isRecord(body.usage) ? { ...body, usage: { ...body.usage, cost: 0 } } : body
