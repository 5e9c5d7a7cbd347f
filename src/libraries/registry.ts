import { anyNetwork, fetchGuarded } from '../core/fetch.ts'
import { recordOf } from '../core/schema.ts'
import { matchesIntegrity } from './integrity.ts'
import { libraryBytesMax } from './limits.ts'
import { TarballError } from './tarball.ts'
import { pickVersion } from './versions.ts'

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

/** Returns the newest version of a package that a range allows. Throws TarballError. */
export async function findVersion(registry: string, name: string, range: string): Promise<string> {
  if (/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(range)) return range
  const { versions, ...about } = await readDocument(urlOf(registry, name), name, {
    bytesMax: documentBytesMax,
    isSameOrigin: true,
  })
  const latest = recordOf(about['dist-tags'])['latest']
  if (range === '' && typeof latest === 'string') return latest
  const picked = pickVersion(Object.keys(recordOf(versions)), range)
  if (picked?.isExact === true) return picked.version
  throw new TarballError(`The registry has no ${name}@${range}.`)
}

/**
 * Downloads the tarball of a package version from an npm registry and checks its integrity. The
 * operator chose the registry, so it may be in a private network. Throws TarballError.
 */
export async function downloadTarball(
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

async function read(
  url: string,
  what: string,
  { bytesMax, isSameOrigin = false }: DownloadBounds,
): Promise<Uint8Array> {
  const limits = { bytesMax, ms, redirectsMax: isSameOrigin ? 0 : 3 }
  const response = await fetchGuarded(url, {}, limits, undefined, anyNetwork).catch(() => undefined)
  if (response?.ok) return response.bytes()
  const why = response ? `status ${response.status}` : 'no response'
  throw new TarballError(`The registry did not send ${what}: ${why}.`)
}
