import { LRUCache } from 'lru-cache'

import { addLibrary } from './added.ts'
import { labelOf } from './library.ts'
import { fetchedBytesMax, fetchedPerPageMax } from './limits.ts'
import { downloadTarball, findVersion } from './registry.ts'
import type { MissingLibrary } from './resolution.ts'
import { tarballReader } from './tarball-reader.ts'
import { TarballError } from './tarball.ts'

/** Time after which a package that could not be fetched is tried again, and their number. */
const retryMs = 600_000
const triedMax = 1_000
const checksMax = 10_000

type Stores = Parameters<typeof addLibrary>[0]

/**
 * Fetches packages that pages name, each once, into the library store (`LIBRARIES=fetch`). They
 * come only from the operator's registry, whose metadata has their integrity.
 */
export class LibraryFetcher {
  readonly #tried = new LRUCache<string, Promise<boolean>>({ max: triedMax, ttl: retryMs })

  /** Results of the safety check of files, by SHA-256. */
  readonly #checks = new LRUCache<string, Promise<boolean>>({ max: checksMax })

  constructor(private readonly registry: string) {}

  /** Fetches what a page lacks. Returns whether anything was added. */
  async fetchAll(stores: Stores, missing: MissingLibrary[]): Promise<boolean> {
    const added = await Promise.all(
      missing.slice(0, fetchedPerPageMax).map((one) => this.#fetchOnce(stores, one)),
    )
    return added.includes(true)
  }

  /** Runs the safety check of a fetched file once. */
  isSafe(sha256: string, check: () => Promise<boolean>): Promise<boolean> {
    const known = this.#checks.get(sha256)
    if (known) return known
    const checking = check()
    this.#checks.set(sha256, checking)
    checking.catch(() => this.#checks.delete(sha256))
    return checking
  }

  #fetchOnce(stores: Stores, { name, range }: MissingLibrary): Promise<boolean> {
    const label = `${name}@${range}`
    const known = this.#tried.get(label)
    if (known) return known
    const fetching = this.#fetch(stores, name, range)
    this.#tried.set(label, fetching)
    // What was added may be removed for newer packages, and is fetched again then.
    fetching.then(
      (isAdded) => isAdded && this.#tried.delete(label),
      () => this.#tried.delete(label),
    )
    return fetching
  }

  async #fetch(stores: Stores, name: string, range: string): Promise<boolean> {
    try {
      const version = await findVersion(this.registry, name, range)
      const bounds = { bytesMax: fetchedBytesMax, isSameOrigin: true }
      const library = await tarballReader.read(
        await downloadTarball(this.registry, name, version, bounds),
      )
      // The package.json of a tarball can name another package.
      if (labelOf(library) !== `${name}@${version}`) return false
      await addLibrary(stores, library, 'fetched')
      return true
    } catch (error) {
      if (error instanceof TarballError) return false
      throw error
    }
  }
}
