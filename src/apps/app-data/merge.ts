import { isRecord, type Json } from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'

/**
 * Changes of a field that depend on its value, as the only member of an object. The server applies
 * them, so that no player overwrites the change of another: `{ score: { $add: 1 } }`.
 */
type Change = (before: unknown, argument: unknown, now: number) => unknown

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => JSON.stringify(value)

const changes = new Map<string, Change>([
  [
    '$add',
    (before, by) => (typeof before === 'number' ? before : 0) + (typeof by === 'number' ? by : 0),
  ],
  ['$now', (_, __, now) => iso(now)],
  ['$remove', () => undefined],
  // A map that is written whole. Its own changes apply, too.
  ['$replace', (_, value, now) => mergeField(undefined, value, now)],
  [
    '$union',
    (before, items) => {
      const known = new Set(listOf(before).map(textOf))
      return [...listOf(before), ...listOf(items).filter((item) => !known.has(textOf(item)))]
    },
  ],
  [
    '$without',
    (before, items) => {
      const removed = new Set(listOf(items).map(textOf))
      return listOf(before).filter((item) => !removed.has(textOf(item)))
    },
  ],
])

function changeIn(value: Json): [Change, argument: unknown] | undefined {
  const [entry, ...others] = Object.entries(value)
  const change = entry && others.length === 0 ? changes.get(entry[0]) : undefined
  return entry && change && [change, entry[1]]
}

/**
 * Returns an object with the fields of another merged into it. Objects merge deeply, and everything
 * else is replaced.
 */
export function merge(before: Json, given: Json, now: number): Json {
  const merged = new Map(Object.entries(before))
  for (const [name, value] of Object.entries(given)) {
    const next = mergeField(merged.get(name), value, now)
    if (next === undefined) merged.delete(name)
    else merged.set(name, next)
  }
  // As own fields, also one that is called __proto__.
  return Object.fromEntries(merged)
}

function mergeField(before: unknown, value: unknown, now: number): unknown {
  if (!isRecord(value)) return value
  const change = changeIn(value)
  if (change) return change[0](before, change[1], now)
  return merge(isRecord(before) ? before : {}, value, now)
}
