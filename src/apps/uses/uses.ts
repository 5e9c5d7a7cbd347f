import { oneOf } from '../../kernel/schema.ts'
import { pattern } from '../../kernel/text.ts'
import { findShims, type ShimName, shimNames, usesOfShim } from './shims.ts'

/** The parts of `service` that an app may use. `shared` is data that all its players see. */
export const useNames = ['ai', 'store', 'shared', 'db', 'room', 'scores', 'files'] as const
export type Use = (typeof useNames)[number]
export const UseSchema = oneOf(useNames)

/** The uses by which other players could receive what a player types. */
const sharingNames = ['shared', 'db', 'room', 'scores', 'files'] as const
export type SharingUse = (typeof sharingNames)[number]
export const SharingUseSchema = oneOf(sharingNames)

/** The uses of `service`, and the interfaces of other hosts that a page names. */
export interface PageUses {
  service: Use[]
  shims: ShimName[]
  /** Those of `service` that the maker declared, because the text does not name them. */
  declared?: Use[]
  /** The page hands `service` on, so its text does not say which parts it uses. */
  isHandedOn?: boolean
  /** The page asks for credentials. Undefined for a version from before this was recorded. */
  asksCredentials?: boolean
}

/** Reads the uses of `service` in a stored column. */
export function readStoredUses(text: string): Use[] {
  const stored: PageUses | null = JSON.parse(text)
  return stored?.service ?? []
}

/** Returns the uses by which a version shares data. Nothing is known of one without a record. */
export const sharingUses = (uses: Pick<PageUses, 'service'> | null): SharingUse[] =>
  sharingNames.filter((use) => !uses || uses.service.includes(use))

/** Returns whether other players could receive what a player types. */
export const sharesData = (uses: Pick<PageUses, 'service'>): boolean => sharingUses(uses).length > 0

/** Returns whether a version gets the script of `service`. */
export const hasBridge = ({ service, isHandedOn }: PageUses): boolean =>
  service.length > 0 || isHandedOn === true

/**
 * Returns the uses that a version may begin after a player agreed, though its text does not name
 * them. Its frame has an address of files only where the version uses them.
 */
export const undeclaredUses = (uses: PageUses | null): SharingUse[] =>
  uses?.asksCredentials === false && hasBridge(uses)
    ? sharingNames.filter((use) => use !== 'files')
    : []

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
const global = String.raw`(?:window|self|globalThis)\s{0,9}\.\s{0,9}service\b`
/** Neither a part of it follows nor a look whether it is there. */
const bare = String.raw`(?!\s{0,9}(?:\?\.|&&|[.[(]))`
/** `const app = service`, `this.app = window.service ?? {}`, `createGame(service)`. */
const handedOn = pattern(
  '',
  String.raw`\b(?:const|let|var)\s{1,9}[\w$]{1,99}\s{0,9}=\s{0,9}service\b${bare}|`,
  String.raw`\b${global}(?<!\b(?:if|while|typeof)\s{0,3}\(?\s{0,3}!{0,2}${global})${bare}|`,
  String.raw`\w(?<!\b(?:if|while))\(\s{0,9}service\s{0,9}[,)]`,
)
/** `const { ai, store } = service` */
const parts = /\{([^{}]*)\}\s*=\s*(?:(?:window|self|globalThis)\s*\.\s*)?service\b(?!\s*[.([])/g
const partNames = /\b(ai|store|db|room|scores|files|seed|challenge)\b/g
/** `{ shared: true }`, or the last argument of `storage.set(key, value, true)`. */
const shared = /\bshared\b|\bstorage\s*\.\s*\w+\s*\([^;]{0,500}?,\s*true\s*\)/i

/** Finds what a script or a page uses of `service`, by the names in its text. */
export function findUses(text: string): PageUses {
  const shims = findShims(text)
  const found = new Set<string | undefined>(shims.flatMap((shim) => usesOfShim(shim, text)))
  for (const [, name] of text.matchAll(members)) found.add(name)
  for (const [, names = ''] of text.matchAll(parts)) {
    for (const [name] of names.matchAll(partNames)) found.add(name)
  }
  if ([...found].some((name) => name !== undefined && ofScores.test(name))) found.add('scores')
  if (found.has('store') && shared.test(text)) found.add('shared')
  return {
    service: useNames.filter((name) => found.has(name)),
    shims: shims.map(({ name }) => name),
    ...(handedOn.test(text) && { isHandedOn: true }),
  }
}

/** Joins what the files of a folder use. */
export const joinUses = (all: PageUses[]): PageUses => ({
  service: useNames.filter((name) => all.some(({ service }) => service.includes(name))),
  shims: shimNames.filter((name) => all.some(({ shims }) => shims.includes(name))),
  ...(all.some(({ isHandedOn }) => isHandedOn) && { isHandedOn: true }),
})
