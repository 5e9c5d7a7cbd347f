import type { Bridge } from './bridge.ts'
import type { StoreOptions } from './service-types.ts'
import { createWriteOrder } from './write-order.ts'

/** `service.store`: JSON values by key, which stay after the page is left. */
export function openStore(call: Bridge) {
  // Shared values wait for the player, who is asked about them.
  const own = createWriteOrder()
  const shared = createWriteOrder()
  const orderOf = (options?: StoreOptions) => (options?.shared === true ? shared : own)
  const send = <Result>(
    name: string,
    input: { key: string; value?: unknown },
    options?: StoreOptions,
  ): Promise<Result> =>
    orderOf(options).send(
      [String(input.key)],
      { ...input, ...options },
      (sent) => call<Result>(name, sent).result,
    )
  return Object.freeze({
    /** Returns a value; null where there is none. */
    get: (key: string, options?: StoreOptions) => send<unknown>('store.get', { key }, options),
    set: (key: string, value: unknown, options?: StoreOptions) =>
      send<void>('store.set', { key, value }, options),
    /** Returns whether there was a value. */
    delete: (key: string, options?: StoreOptions) =>
      send<boolean>('store.delete', { key }, options),
    /** Returns the keys that begin with a prefix, sorted. */
    async list(prefix = '', options?: StoreOptions): Promise<string[]> {
      await orderOf(options).settled()
      return call<string[]>('store.list', { prefix, ...options }).result
    },
  })
}
