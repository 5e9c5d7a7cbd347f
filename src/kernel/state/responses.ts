import { LRUCache } from 'lru-cache'

import { rejectRequest } from '../errors.ts'
import { responseItemBytesMax, responseItemBytesPerAccountMax, responseItemMs } from '../limits.ts'
import { type NanoUsd, zero } from '../money.ts'
import type { Json } from '../schema.ts'
import type { Clock } from '../time.ts'

/** A response that is kept. The gateway adds its content (gateway/chat/response-cache.ts). */
export interface CachedResponse {
  /** The size of the content. */
  chars: number
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
    const size = response.chars + key.length
    if (size > this.charsMax) return
    this.entries?.set(key, { response, expires: this.clock.now() + ttlMs }, { size })
  }
}

/** Returns the item of this id; undefined where it is unknown or expired. */
export type FindItem = (id: string) => unknown

/**
 * Output items of Responses API results by account and item id, for clients that send back the id
 * alone. They stay in memory for an hour. The oldest item goes when its account, or all accounts
 * together, exceed their bytes.
 */
export class ResponseItems {
  private readonly byAccount: LRUCache<string, LRUCache<string, string>>

  constructor(private readonly clock: Clock) {
    this.byAccount = new LRUCache({ maxSize: responseItemBytesMax })
  }

  add(account: string, item: Json): void {
    const items = this.byAccount.get(account) ?? this.open()
    items.set(String(item.id), JSON.stringify(item, withoutLogprobs))
    items.purgeStale()
    // An LRUCache keeps the size of a key that is set again, so the key is removed first.
    this.byAccount.delete(account)
    this.byAccount.set(account, items, { size: emptyBytes + items.calculatedSize })
  }

  /**
   * Returns a function that finds the items of one request. It throws `bad_request` when their
   * bytes exceed the limit of an account, because a request may repeat an id many times.
   */
  finder(account: string): FindItem {
    let bytes = 0
    return (id) => {
      const item = this.byAccount.get(account)?.get(id)
      if (item === undefined) return undefined
      bytes += bytesOf(item)
      if (bytes > responseItemBytesPerAccountMax) {
        rejectRequest(tooMany, 'input')
      }
      return JSON.parse(item)
    }
  }

  private open(): LRUCache<string, string> {
    return new LRUCache({
      maxSize: responseItemBytesPerAccountMax,
      sizeCalculation: bytesOf,
      ttl: responseItemMs,
      ttlResolution: 0,
      perf: this.clock,
    })
  }
}

/** Drops log probabilities: they are many times as long as the text and never read again. */
const withoutLogprobs = (name: string, value: unknown): unknown =>
  name === 'logprobs' ? undefined : value

/** Approximate memory of an item without text, and of an account without items. */
const emptyBytes = 500

const tooMany = 'The items referenced by id are too large together. Reference each item once.'

const bytesOf = (item: string): number => emptyBytes + 2 * item.length

/** The text of an audio file, and its cost to this request. */
export interface Transcript {
  words: string
  cost: NanoUsd
}

type Start = (signal: AbortSignal) => Promise<Transcript>

/** The running transcriptions of audio files, by the id of the file. */
export class Transcriptions {
  private readonly running = new Map<string, SharedTranscription>()

  /**
   * Waits for the transcript of a file, for a client that leaves with `signal`. The first client
   * starts it and pays; it costs the others nothing.
   */
  async wait(file: string, signal: AbortSignal, start: Start): Promise<Transcript> {
    const known = this.running.get(file)
    const shared = known && !known.isAborted ? known : new SharedTranscription(start)
    this.running.set(file, shared)
    try {
      const transcript = await shared.wait(signal)
      return shared === known ? { ...transcript, cost: zero } : transcript
    } finally {
      if (this.running.get(file) === shared) this.running.delete(file)
    }
  }
}

/** A transcription for all chats that wait for it. It is aborted when the last one leaves. */
class SharedTranscription {
  private readonly controller = new AbortController()
  private readonly transcript: Promise<Transcript>
  private waiting = 0

  constructor(start: Start) {
    this.transcript = start(this.controller.signal)
  }

  get isAborted(): boolean {
    return this.controller.signal.aborted
  }

  async wait(signal: AbortSignal): Promise<Transcript> {
    const leave = (): void => {
      this.waiting -= 1
      if (this.waiting === 0) this.controller.abort()
    }
    this.waiting += 1
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    return this.transcript.finally(() => signal.removeEventListener('abort', leave))
  }
}
