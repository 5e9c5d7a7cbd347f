import type { Service } from '../bridge/page.ts'
import type { Assets } from '../frame/assets.ts'

declare global {
  interface Window {
    service: { assets: Assets }
  }
}

/** As the bridge has it: its functions take more than the types of pages in service-types.ts. */
const bridge: Service = Reflect.get<object, string>(window, 'service')

/** The calls of the bridge, as they were before a page could replace them. */
export const { ai, db, files, room, store } = bridge

/** Adds members to a global object of another host, which several scripts provide in parts. */
export function extend(name: string, members: object): void {
  const known: unknown = Reflect.get(window, name)
  const value = Object.assign(Object(known) === known ? Object(known) : {}, members)
  Object.defineProperty(window, name, { value, writable: true, configurable: true })
}

/** Returns an error with a code, as these hosts have it. */
export const failure = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code })

/** Returns an object whose functions all fail, for a part of a host without a counterpart here. */
export const unavailable = (part: string): object =>
  new Proxy(
    {},
    {
      get: (_, name) =>
        // An object with `then` would be a promise.
        typeof name === 'symbol' || name === 'then'
          ? undefined
          : async () => {
              throw failure('unavailable', `${part}.${name} is not available here.`)
            },
    },
  )

/** Returns the text of a value that a page passes where a text belongs. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : String(value)
