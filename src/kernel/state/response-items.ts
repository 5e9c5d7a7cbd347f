import { LRUCache } from 'lru-cache'

import { rejectRequest } from '../errors.ts'
import { responseItemBytesMax, responseItemBytesPerAccountMax, responseItemMs } from '../limits.ts'
import type { Json } from '../schema.ts'
import type { Clock } from '../time.ts'

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
