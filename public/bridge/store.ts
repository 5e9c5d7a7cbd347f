import type { Bridge } from './bridge.ts'

/** `shared`: the values of all players, in place of those of this player. */
export interface StoreOptions {
  shared?: boolean
}

/** `service.store`: JSON values by key, which stay after the page is left. */
export const openStore = (call: Bridge) =>
  Object.freeze({
    /** Returns a value; null where there is none. */
    get: (key: string, options?: StoreOptions): Promise<unknown> =>
      call<unknown>('store.get', { key, ...options }).result,
    set: (key: string, value: unknown, options?: StoreOptions): Promise<void> =>
      call<void>('store.set', { key, value, ...options }).result,
    /** Returns whether there was a value. */
    delete: (key: string, options?: StoreOptions): Promise<boolean> =>
      call<boolean>('store.delete', { key, ...options }).result,
    /** Returns the keys that begin with a prefix, sorted. */
    list: (prefix = '', options?: StoreOptions): Promise<string[]> =>
      call<string[]>('store.list', { prefix, ...options }).result,
  })
