import { LRUCache } from 'lru-cache'

import { PoolBusyError } from '../../kernel/fair-queue.ts'
import { anyNetwork, fetchGuarded, GuardedFetchError } from '../../kernel/fetch.ts'
import { recordOf } from '../../kernel/schema.ts'
import { inProcess, type TaskLimits, WorkerPool } from '../../kernel/worker-pool.ts'
import { addLibrary, isStored } from './added.ts'
import { fetchedAtOnceMax, fetchedBytesMax, labelOf, libraryBytesMax } from './library.ts'
import type { MissingLibrary } from './resolution.ts'
import { BusyError, TarballError, type UnpackedLibrary } from './tarball.ts'
import type { TarballResult } from './tarball.worker.ts'
import { pickVersion } from './versions.ts'

const mb = 1_048_576
/** Unpacking stops at 256 MB (tarball.ts), which are there as files once more. */
const limits = { file: 'apps/libraries/tarball.worker.ts', cpuMs: 5_000, memoryBytes: 768 * mb }
const bounds = {
  slots: 2,
  waitingMax: 32,
  waitingBytesMax: 128 * mb,
  // Each may use much memory. Two clients have one each, also where both fetch large packages.
  largeBytes: Infinity,
  heavyMs: Infinity,
  // The limit of CPU time ends a task that hangs. This one is for a machine that hangs.
  taskMs: 300_000,
  idleMs: 20_000,
}

/**
 * Reads the tarballs of packages that pages name, in a process of its own, which ends when one
 * takes too much time or memory.
 */
export class TarballReader {
  private readonly pool: WorkerPool<Uint8Array, TarballResult>

  constructor(given: Partial<TaskLimits> = {}) {
    this.pool = new WorkerPool(inProcess({ ...limits, ...given }), bounds)
  }

  /** Reads a tarball. Throws TarballError. */
  async read(packed: Uint8Array): Promise<UnpackedLibrary> {
    const create = () => new Uint8Array(packed)
    const result = await this.pool.run(packed.byteLength, create).catch((error: unknown) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw new BusyError(`The tarball was not read: ${error.message}.`)
    })
    if ('invalid' in result) throw new TarballError(result.invalid)
    return result
  }

  close(): void {
    this.pool.close()
  }
}

/** Its process ends when it is idle. */
const tarballReader = new TarballReader()

const documentBytesMax = 16 * 1_048_576
const ms = 20_000

const urlOf = (registry: string, name: string): string =>
  `${registry.replace(/\/$/, '')}/${name.replace('/', '%2f')}`

/** Bounds of a download. `isSameOrigin`: from the registry's host alone. */
interface DownloadBounds {
  bytesMax: number
  isSameOrigin?: boolean
}

/** Parses a JSON document of the registry; an empty record for anything else. */
async function readDocument(url: string, what: string, bounds: DownloadBounds) {
  const bytes = await read(url, what, { ...bounds, bytesMax: documentBytesMax })
  try {
    return recordOf(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    return {}
  }
}

const isWhole = (range: string): boolean => /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(range)

/**
 * Returns the newest version of a package that a range allows, or the nearest with its major
 * number: cdnjs has versions that npm lacks. Throws TarballError.
 */
async function findVersion(registry: string, name: string, range: string): Promise<string> {
  const { versions, ...about } = await readDocument(urlOf(registry, name), name, {
    bytesMax: documentBytesMax,
    isSameOrigin: true,
  })
  const latest = recordOf(about['dist-tags'])['latest']
  if (range === '' && typeof latest === 'string') return latest
  const picked = pickVersion(Object.keys(recordOf(versions)), range)
  if (picked) return picked.version
  throw new TarballError(`The registry has no ${name}@${range}.`)
}

/**
 * Downloads the tarball of a package version from an npm registry and checks its integrity. The
 * operator chose the registry, so it may be in a private network. Throws TarballError.
 */
async function downloadTarball(
  registry: string,
  name: string,
  version: string,
  bounds: DownloadBounds = { bytesMax: libraryBytesMax },
): Promise<Uint8Array> {
  const url = `${urlOf(registry, name)}/${encodeURIComponent(version)}`
  const dist = recordOf((await readDocument(url, `${name}@${version}`, bounds))['dist'])
  const integrity = String(dist['integrity'] ?? '')
  if (!/^sha(?:256|384|512)-/.test(integrity)) {
    throw new TarballError(`The registry gives no integrity for ${name}@${version}.`)
  }
  const at = String(dist['tarball'])
  if (bounds.isSameOrigin === true && URL.parse(at)?.origin !== URL.parse(registry)?.origin) {
    throw new TarballError(
      `The tarball of ${name}@${version} is on another host than the registry.`,
    )
  }
  const tarball = await read(at, `${name}@${version}`, bounds)
  if (matchesIntegrity(tarball, integrity)) return tarball
  throw new TarballError(`The tarball of ${name}@${version} does not match its integrity.`)
}

/** Downloads a package version and reads it in a process of its own. Throws TarballError. */
export async function downloadLibrary(
  registry: string,
  name: string,
  version: string,
  bounds?: DownloadBounds,
): Promise<UnpackedLibrary> {
  const packed = await downloadTarball(registry, name, version, bounds)
  const library = await tarballReader.read(packed)
  // The package.json of a tarball can name another package.
  if (labelOf(library) === `${name}@${version}`) return library
  throw new TarballError(`The tarball of ${name}@${version} is of another package.`)
}

async function read(
  url: string,
  what: string,
  { bytesMax, isSameOrigin = false }: DownloadBounds,
): Promise<Uint8Array> {
  const limits = { bytesMax, ms, redirectsMax: isSameOrigin ? 0 : 3 }
  const response = await fetchGuarded(url, {}, limits, undefined, anyNetwork).catch(
    (error: unknown) => {
      if (!(error instanceof GuardedFetchError)) return undefined
      const why =
        error.reason === 'too_long' ? `it has more than ${bytesMax / 1_048_576} MB` : error.reason
      throw new TarballError(`The registry did not send ${what}: ${why}.`)
    },
  )
  if (response?.ok) return response.bytes()
  const why = response ? `status ${response.status}` : 'no response'
  const text = `The registry did not send ${what}: ${why}.`
  if (response?.status === 404) throw new MissingError(text)
  const isFinal = response && response.status < 500 && ![408, 429].includes(response.status)
  throw isFinal ? new TarballError(text) : new BusyError(text)
}

/** The registry does not have what was asked for. */
class MissingError extends TarballError {}

/** Strength of the hash functions of Subresource Integrity, section 3.2. */
const strengths = ['sha256', 'sha384', 'sha512'] as const

/**
 * Returns whether bytes match an integrity attribute: one of the hashes of the strongest function
 * (Subresource Integrity, section 3.3.4). An attribute without a known function matches.
 */
export function matchesIntegrity(bytes: Uint8Array, attribute: string): boolean {
  const given = attribute.trim().split(/\s+/)
  for (const name of strengths.toReversed()) {
    const hashes = given.filter((one) => one.startsWith(`${name}-`))
    if (hashes.length === 0) continue
    const own = new Bun.CryptoHasher(name).update(bytes).digest('base64')
    return hashes.some((one) => one.slice(name.length + 1).split('?', 1)[0] === own)
  }
  return true
}

/** Tries of one package while the registry is busy, and the time between them. */
const triesMax = 3
const betweenMs = 300
/** Time after which a package that the registry does not have is tried again, and their number. */
const retryMs = 600_000
const triedMax = 1_000
const checksMax = 10_000

/** The result of fetching one package. */
interface Fetched {
  isAdded: boolean
  /** A new try would end the same. */
  isFinal: boolean
  /** Why it was not added, for people. */
  why: string
}

/** Returns a missing package as a page names it: "three@0.180.0", or "three". */
export const requestOf = ({ name, range }: MissingLibrary): string =>
  range === '' ? name : `${name}@${range}`

type Stores = Parameters<typeof addLibrary>[0]

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Fetches packages from the registry of the operator. */
    readonly libraryFetcher: LibraryFetcher
  }
}

/**
 * Fetches packages that pages name, each once, into the library store (`LIBRARIES=fetch`). They
 * come only from the operator's registry, whose metadata has their integrity.
 */
export class LibraryFetcher {
  readonly #tried = new LRUCache<string, Promise<Fetched>>({ max: triedMax, ttl: retryMs })

  /** Results of the safety check of files, by SHA-256. */
  readonly #checks = new LRUCache<string, Promise<boolean>>({ max: checksMax })

  constructor(private readonly registry: string) {}

  /** Fetches the first packages that a page lacks. Returns their results, by name and range. */
  async fetchAll(stores: Stores, missing: MissingLibrary[]): Promise<Map<string, Fetched>> {
    const results = missing
      .slice(0, fetchedAtOnceMax)
      .map(async (one): Promise<[string, Fetched]> => [
        requestOf(one),
        await this.#fetchOnce(stores, one),
      ])
    return new Map(await Promise.all(results))
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

  #fetchOnce(stores: Stores, missing: MissingLibrary): Promise<Fetched> {
    const label = requestOf(missing)
    const known = this.#tried.get(label)
    if (known) return known
    const fetching = this.#fetch(stores, missing)
    this.#tried.set(label, fetching)
    // What was added may be removed for newer packages, and is fetched again then.
    fetching.then(
      ({ isFinal }) => isFinal || this.#tried.delete(label),
      () => this.#tried.delete(label),
    )
    return fetching
  }

  async #fetch(stores: Stores, { name, range }: MissingLibrary, tries = 1): Promise<Fetched> {
    try {
      const version = isWhole(range) ? range : await findVersion(this.registry, name, range)
      await this.#add(stores, name, version)
      return { isAdded: true, isFinal: false, why: '' }
    } catch (error) {
      if (error instanceof MissingError && isWhole(range) && tries < triesMax) {
        return this.#fetchNear(stores, { name, range })
      }
      if (!(error instanceof TarballError)) throw error
      if (!(error instanceof BusyError)) {
        return { isAdded: false, isFinal: true, why: error.message }
      }
      if (tries >= triesMax) {
        return { isAdded: false, isFinal: false, why: `${error.message} Publish again later.` }
      }
      await Bun.sleep(betweenMs * tries)
      return this.#fetch(stores, { name, range }, tries + 1)
    }
  }

  /** Fetches the nearest version where the registry lacks one. */
  async #fetchNear(stores: Stores, { name, range }: MissingLibrary): Promise<Fetched> {
    const near = await findVersion(this.registry, name, range).catch((error: unknown) => {
      if (error instanceof TarballError) return undefined
      throw error
    })
    const why = `The registry has no ${name}@${range}.`
    if (near === undefined) return { isAdded: false, isFinal: true, why }
    const known = await isStored(stores, { name, version: near })
    if (known) return { isAdded: false, isFinal: true, why: '' }
    const fetched = await this.#fetch(stores, { name, range: near }, triesMax)
    return { ...fetched, isFinal: true }
  }

  async #add(stores: Stores, name: string, version: string): Promise<void> {
    const bounds = { bytesMax: fetchedBytesMax, isSameOrigin: true }
    await addLibrary(stores, await downloadLibrary(this.registry, name, version, bounds), 'fetched')
  }
}
