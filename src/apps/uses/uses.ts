import { findShims } from './shims.ts'

/** The parts of `service` that an app may use. `shared` is data that all its players see. */
const useNames = ['ai', 'store', 'shared', 'db', 'room', 'scores'] as const
export type Use = (typeof useNames)[number]

/** `service.ai`, `service?.ai`, `service["ai"]`. */
const members = /\bservice\s*(?:\?\.|\.|(?:\?\.)?\[\s*["'`])\s*(ai|store|db|room|scores)\b/g
/** `const { ai, store } = service` */
const parts = /\{([^{}]*)\}\s*=\s*(?:(?:window|self|globalThis)\s*\.\s*)?service\b(?!\s*[.([])/g
const partNames = /\b(ai|store|db|room|scores)\b/g
/** `{ shared: true }`, or the last argument of `storage.set(key, value, true)`. */
const shared = /\bshared\b|\bstorage\s*\.\s*\w+\s*\([^;]{0,500}?,\s*true\s*\)/i

const isUse = (name: string | undefined): name is Use => useNames.some((known) => known === name)

/** Finds what a script or a page uses of `service`, by the names in its text. */
export function findUses(text: string): Use[] {
  const found = new Set<string | undefined>(findShims(text).flatMap(({ uses }) => [...uses]))
  for (const [, name] of text.matchAll(members)) found.add(name)
  for (const [, names = ''] of text.matchAll(parts)) {
    for (const [name] of names.matchAll(partNames)) found.add(name)
  }
  if (found.has('store') && shared.test(text)) found.add('shared')
  return [...found].filter(isUse)
}
