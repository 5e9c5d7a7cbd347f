import { LRUCache } from 'lru-cache'

import type { AppContext } from '../../context.ts'
import { onceFor } from '../../core/once.ts'
import type { Clock } from '../../core/time.ts'
import { rememberedBytesMax, rememberedMs, rememberedOfAccountBytesMax } from '../../limits.ts'
import { misfit } from '../fields.ts'
import type { Recall } from './input.ts'

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
    // What is set again counts as it did: only what is new counts with what it holds now.
    this.byAccount.delete(account)
    this.byAccount.set(account, items, { size: emptyBytes + items.calculatedSize })
  }

  /**
   * Finds the items that one request of this account names, as they were answered. Refuses
   * bad_request when they are more than an account may have: an id may stand there many times.
   */
  recall(account: string): Recall {
    let bytes = 0
    return (id) => {
      const item = this.byAccount.get(account)?.get(id)
      if (item === undefined) return undefined
      bytes += bytesOf(item)
      if (bytes > rememberedOfAccountBytesMax) throw misfit('input', tooMany)
      return JSON.parse(item)
    }
  }

  private open(): LRUCache<string, string> {
    return new LRUCache({
      maxSize: rememberedOfAccountBytesMax,
      sizeCalculation: bytesOf,
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

const tooMany = 'The items that are named by their ids are too many: name each once.'

const bytesOf = (item: string): number => emptyBytes + 2 * item.length

/** What this process remembers: with and without /v1 it is the same. */
export const rememberedOf = onceFor(({ clock }: AppContext) => new Remembered(clock))
