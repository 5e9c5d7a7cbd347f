import { oneOf } from '../../kernel/schema.ts'
import { findShims, type ShimName, shimNames } from './shims.ts'

/** The parts of `service` that an app may use. `shared` is data that all its players see. */
export const useNames = ['ai', 'store', 'shared', 'db', 'room', 'scores', 'files'] as const
export type Use = (typeof useNames)[number]
export const UseSchema = oneOf(useNames)

/** The uses of `service`, and the interfaces of other hosts that a page names. */
export interface PageUses {
  service: Use[]
  shims: ShimName[]
  /** Those of `service` that the maker declared, because the text does not name them. */
  declared?: Use[]
}

/** Reads the uses of `service` in a stored column. */
export function readStoredUses(text: string): Use[] {
  const stored: PageUses | null = JSON.parse(text)
  return stored?.service ?? []
}

const sharing = new Set<Use>(['shared', 'db', 'room', 'scores', 'files'])

/** Returns whether other players could receive what a player types. */
export const sharesData = ({ service }: Pick<PageUses, 'service'>): boolean =>
  service.some((use) => sharing.has(use))

/** Adds what a maker declared to what was found. */
export const withDeclared = (found: PageUses, declared: readonly Use[] = []): PageUses =>
  declared.length === 0
    ? found
    : {
        ...found,
        service: useNames.filter((use) => found.service.includes(use) || declared.includes(use)),
        declared: [...declared],
      }

/** Returns whether the frame of an app gets the address of what its players upload. */
export const hasUploads = ({ service }: Pick<PageUses, 'service'>): boolean =>
  service.includes('files')

/** `service.ai`, `service?.ai`, `service["ai"]`. The seed and the challenge are of scores. */
const members =
  /\bservice\s*(?:\?\.|\.|(?:\?\.)?\[\s*["'`])\s*(ai|store|db|room|scores|files|seed|challenge)\b/g
const ofScores = /^(?:seed|challenge)$/
/** `const { ai, store } = service` */
const parts = /\{([^{}]*)\}\s*=\s*(?:(?:window|self|globalThis)\s*\.\s*)?service\b(?!\s*[.([])/g
const partNames = /\b(ai|store|db|room|scores|files|seed|challenge)\b/g
/** `{ shared: true }`, or the last argument of `storage.set(key, value, true)`. */
const shared = /\bshared\b|\bstorage\s*\.\s*\w+\s*\([^;]{0,500}?,\s*true\s*\)/i

/** Finds what a script or a page uses of `service`, by the names in its text. */
export function findUses(text: string): PageUses {
  const shims = findShims(text)
  const found = new Set<string | undefined>(shims.flatMap(({ uses }) => [...uses]))
  for (const [, name] of text.matchAll(members)) found.add(name)
  for (const [, names = ''] of text.matchAll(parts)) {
    for (const [name] of names.matchAll(partNames)) found.add(name)
  }
  if ([...found].some((name) => name !== undefined && ofScores.test(name))) found.add('scores')
  if (found.has('store') && shared.test(text)) found.add('shared')
  return {
    service: useNames.filter((name) => found.has(name)),
    shims: shims.map(({ name }) => name),
  }
}

/** Joins what the files of a folder use. */
export const joinUses = (all: PageUses[]): PageUses => ({
  service: useNames.filter((name) => all.some(({ service }) => service.includes(name))),
  shims: shimNames.filter((name) => all.some(({ shims }) => shims.includes(name))),
})
