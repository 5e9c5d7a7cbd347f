import { LRUCache } from 'lru-cache'

import type { Clock } from '../time.ts'

interface CachedResponse {
  status: number
  body: unknown
}

interface Entry {
  response: CachedResponse
  /** Milliseconds since 1970. */
  expires: number
}

const mebibyte = 1_048_576
/** A response above this share of the cache would push out all others. */
const share = 0.1

/**
 * Responses to chats that asked for it, by account and request. They are in memory only, because no
 * response is stored on disk unless its client names it.
 */
export class ResponseCache {
  private readonly entries: LRUCache<string, Entry> | undefined
  private readonly charsMax: number

  /** `megabytes`: size of the cache; 0 turns it off. */
  constructor(
    private readonly clock: Clock,
    megabytes: number,
  ) {
    const maxSize = megabytes * mebibyte
    this.charsMax = maxSize * share
    this.entries = megabytes > 0 ? new LRUCache({ maxSize }) : undefined
  }

  get isOn(): boolean {
    return this.entries !== undefined
  }

  get(key: string): CachedResponse | undefined {
    const entry = this.entries?.get(key)
    return entry && entry.expires > this.clock.now() ? entry.response : undefined
  }

  set(key: string, response: CachedResponse, ttlMs: number): void {
    const size = JSON.stringify(response.body).length + key.length
    if (size > this.charsMax) return
    this.entries?.set(key, { response, expires: this.clock.now() + ttlMs }, { size })
  }
}
