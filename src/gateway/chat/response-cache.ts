import type { AppContext } from '../../kernel/context.ts'
import { completed, type Success } from '../../kernel/http/outcome.ts'
import { sha256 } from '../../kernel/ids.ts'
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import type { CachedResponse } from '../../kernel/state/responses.ts'
import { day, second } from '../../kernel/time.ts'
import type { ChatResponse } from '../conversation/chat-event.ts'
import type { ClientCodec, FinalUsage } from '../conversation/codec.ts'
import { bytesOf } from '../events.ts'
import { invalidField } from '../fields.ts'
import type { Usage } from '../models/usage.ts'
import type { Candidate } from '../paid/candidates.ts'
import { encodeStep, type Step } from './source.ts'

/** A whole response. `json`: that of an upstream with the client's API, which is passed on. */
export interface WholeChat {
  response: ChatResponse
  json: Json | undefined
}

/** A whole stream. `isPassed`: the upstream has the client's API. */
interface StreamedChat {
  steps: readonly Step[]
  isPassed: boolean
}

declare module '../../kernel/state/responses.ts' {
  interface CachedResponse {
    content: WholeChat | StreamedChat
    /** The usage of the call that was charged. */
    usage: Usage
    /** The model that served it. */
    candidate: Candidate
  }
}

/** The place of a chat's response in the cache, for chats with the field `cache`. */
export interface CacheSlot {
  /** Returns the response of an equal chat. */
  find(): CachedResponse | undefined
  keep(response: Omit<CachedResponse, 'chars'>): void
}

export const ttlSecondsMax = day / second

/**
 * Reads `cache: { ttl }` (seconds). Its key is that of the account and the rest of the body.
 * Returns undefined for a chat without it. Throws `bad_request`, also where the cache is off.
 */
export function readCacheSlot(
  { state: { responseCache } }: AppContext,
  account: string,
  raw: unknown,
): CacheSlot | undefined {
  const { cache, ...body } = recordOf(raw)
  if (cache === undefined || cache === null || cache === false) return undefined
  const ttl = isRecord(cache) ? cache.ttl : undefined
  if (typeof ttl !== 'number' || !Number.isInteger(ttl) || ttl < 1 || ttl > ttlSecondsMax) {
    throw invalidField('cache', `cache must be { "ttl": <seconds from 1 to ${ttlSecondsMax}> }.`)
  }
  if (!responseCache.isOn) {
    throw invalidField('cache', 'The response cache is off (RESPONSE_CACHE_MB). Remove cache.')
  }
  const key = sha256(`${account} ${JSON.stringify(body)}`)
  return {
    find: () => responseCache.get(key),
    keep: (response) =>
      responseCache.set(key, { ...response, chars: charsOf(response.content) }, ttl * second),
  }
}

/** Approximate memory of a step without its bytes and texts: its objects and their fields. */
const stepChars = 300

function charsOf(content: WholeChat | StreamedChat): number {
  if ('response' in content) return JSON.stringify(content).length
  return content.steps.reduce((sum, { own, events }) => {
    // The bytes keep their chunk in memory, and the data is a copy of their text.
    const ownChars = own ? own.end - own.start + (own.data?.length ?? 0) : 0
    return sum + stepChars + ownChars + JSON.stringify(events ?? []).length
  }, 0)
}

/** Writes a whole response for its client. */
export const encodeWhole = (
  { response, json }: WholeChat,
  client: ClientCodec,
  final: FinalUsage,
): Json | Promise<Json> => (json ? client.pass(json, final) : client.encode(response, final))

/** Encodes a kept response for a client, who gets it free of charge. */
export async function encodeFree(
  { content, usage }: CachedResponse,
  client: ClientCodec,
): Promise<Success> {
  const final = { usage, cost: 0 }
  if ('response' in content) return completed(await encodeWhole(content, client, final))
  const writer = client.createWriter()
  const events = content.steps.flatMap((step) => encodeStep(step, writer, content.isPassed) ?? [])
  const stream = Buffer.concat([bytesOf(events), await writer.end(final)])
  return completed({ stream: stream.toString() })
}
