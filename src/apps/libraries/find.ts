import { type LibraryAddress, parseAddress } from './address.ts'
import type { Library } from './library.ts'
import { referencesPerPageMax } from './limits.ts'
import { pathOf } from './package-paths.ts'
import type { LibraryReference, PageReferences } from './references.ts'
import { findLibrary, type FoundLibrary } from './store.ts'
import { fontPackages } from './styles.ts'
import { pickVersion } from './versions.ts'

/**
 * Finds a package that a library imports: in the version that the page itself names, if it is in
 * the range. Two versions of React in one page would not know each other's elements.
 */
export function findDependency(
  all: readonly Library[],
  { urls }: PageReferences,
  name: string,
  range: string,
): Library | undefined {
  for (const { url } of urls.slice(0, referencesPerPageMax)) {
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
  for (const library of isExact ? [nearest] : [nearest, ...others]) {
    const path = await pathOf(library, address, use)
    if (path !== undefined) return { library, path }
  }
  return undefined
}

const majorOf = ({ version }: Library): string => version.split('.', 1)[0] ?? ''

export function findFont(all: readonly Library[], family: string): Library | undefined {
  for (const name of fontPackages(family)) {
    const found = findLibrary(all, name, '')
    if (found) return found.library
  }
  return undefined
}

/** Libraries that load but need what the sandbox refuses, and what to do. */
export const restrictedLibraries: ReadonlyMap<string, string> = new Map([
  [
    'html2canvas',
    'loads but cannot capture elements: it needs a frame of the same origin, which the sandbox refuses. Draw on a canvas instead.',
  ],
  [
    'tesseract.js',
    'loads its engine and language data from other packages by addresses that it computes, and these are not here.',
  ],
])
