import { LRUCache } from 'lru-cache'

import type { Clock } from '../../core/time.ts'
import type { House } from '../../house.ts'
import { rememberedBytesMax, rememberedMs, rememberedOfAccountBytesMax } from '../../limits.ts'

type Json = Record<string, unknown>

/**
 * What was answered, by account and by the id of the item, for clients that send back the id alone:
 * in memory, for an hour at most. The oldest goes when its account has too much, or when all have.
 */
export class Remembered {
  private readonly byAccount: LRUCache<string, LRUCache<string, string>>

  constructor(private readonly clock: Clock) {
    this.byAccount = new LRUCache({ maxSize: rememberedBytesMax })
  }

  keep(account: string, item: Json): void {
    const items = this.byAccount.get(account) ?? this.open()
    items.set(String(item.id), JSON.stringify(item, withoutLogprobs))
    items.purgeStale()
    // Set again, so that it counts with what it holds now.
    this.byAccount.set(account, items, { size: emptyBytes + items.calculatedSize })
  }

  /** An item of this account, as it was answered. */
  find(account: string, id: string): unknown {
    const item = this.byAccount.get(account)?.get(id)
    return item === undefined ? undefined : JSON.parse(item)
  }

  private open(): LRUCache<string, string> {
    return new LRUCache({
      maxSize: rememberedOfAccountBytesMax,
      sizeCalculation: (item) => emptyBytes + 2 * item.length,
      ttl: rememberedMs,
      ttlResolution: 0,
      perf: this.clock,
    })
  }
}

/** They are many times a text's length, and no chat reads them. */
const withoutLogprobs = (name: string, value: unknown): unknown =>
  name === 'logprobs' ? undefined : value

/** About what an item without a text takes, and an account without items. */
const emptyBytes = 500

const byHouse = new WeakMap<House, Remembered>()

/** What this process remembers: with and without /v1 it is the same. */
export function rememberedOf(house: House): Remembered {
  const known = byHouse.get(house) ?? new Remembered(house.clock)
  byHouse.set(house, known)
  return known
}
