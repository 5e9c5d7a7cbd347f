import { type LibraryAddress, parseAddress } from './address.ts'
import {
  labelOf,
  type Library,
  type LibraryReference,
  type PageReferences,
  referencesPerPageMax,
} from './library.ts'
import { pathOf } from './package-paths.ts'
import { findLibrary, type FoundLibrary } from './store.ts'
import { fontPackages } from './styles.ts'
import { pickVersion } from './versions.ts'

/**
 * Finds a package that a library imports: in the version that the page itself names, if it is in
 * the range. Two versions of React in one page would not know each other's elements.
 */
export function findDependency(
  all: readonly Library[],
  { urls, imports }: PageReferences,
  name: string,
  range: string,
): Library | undefined {
  const named = [...urls.map(({ url }) => url), ...imports.map(([, url]) => url)]
  for (const url of named.slice(0, referencesPerPageMax)) {
    const address = parseAddress(url)
    if (address?.name !== name) continue
    const library = findLibrary(all, name, address.range)?.library
    if (library && pickVersion([library.version], range)?.isExact) return library
  }
  return findLibrary(all, name, range)?.library
}

/**
 * Finds the file that a URL names. Where its version is not there, the nearest one may be too new
 * to have it, as three is for examples/js: then in another one with the same major number.
 */
export async function findFileOf(
  all: readonly Library[],
  { library: nearest, isExact }: FoundLibrary,
  address: LibraryAddress,
  use: LibraryReference['use'],
): Promise<{ library: Library; path: string } | undefined> {
  const major = majorOf(nearest)
  const others = all.filter(
    (one) => one.name === nearest.name && majorOf(one) === major && one.source !== 'fetched',
  )
  const same = copiesOf(all, nearest)
  for (const library of isExact ? same : [...same, ...others]) {
    const path = await pathOf(library, address, use)
    if (path !== undefined) return { library, path }
  }
  return undefined
}

/** Returns a library, and the whole package of which this program has some files. */
export const copiesOf = (all: readonly Library[], library: Library): Library[] => [
  library,
  ...all.filter((one) => one !== library && labelOf(one) === labelOf(library)),
]

const majorOf = ({ version }: Library): string => version.split('.', 1)[0] ?? ''

/** Finds the package of a font. */
export function findFont(all: readonly Library[], family: string): Library | undefined {
  for (const name of fontPackages(family)) {
    const found = findLibrary(all, name, '')
    if (found) return found.library
  }
  return undefined
}
