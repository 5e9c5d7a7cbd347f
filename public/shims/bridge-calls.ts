import type { Service } from '../bridge/page.ts'

declare global {
  interface Window {
    service: Service
  }
}

/** The calls of the bridge, as they were before a page could replace them. */
export const { ai, db, room, store } = window.service

/** Adds members to a global object of another host, which several scripts provide in parts. */
export function extend(name: string, members: object): void {
  const known: unknown = Reflect.get(window, name)
  const value = Object.assign(Object(known) === known ? Object(known) : {}, members)
  Object.defineProperty(window, name, { value, writable: true, configurable: true })
}

/** Returns an error with a code, as these hosts have it. */
export const failure = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code })

/** Returns a blob as a data: URL, which also works in other frames and later. */
export const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'))
    reader.readAsDataURL(blob)
  })

/** Returns the text of a value that a page passes where a text belongs. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : String(value)
