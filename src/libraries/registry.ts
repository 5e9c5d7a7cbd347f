import { anyNetwork, fetchGuarded } from '../core/fetch.ts'
import { recordOf } from '../core/schema.ts'
import { matchesIntegrity } from './integrity.ts'
import { libraryBytesMax } from './limits.ts'
import { TarballError } from './tarball.ts'

const documentBytesMax = 4 * 1_048_576
const ms = 60_000

/**
 * Downloads the tarball of a package version from an npm registry and checks its integrity. The
 * operator chose the registry, so it may be in a private network. Throws TarballError.
 */
export async function downloadTarball(
  registry: string,
  name: string,
  version: string,
): Promise<Uint8Array> {
  const url = `${registry.replace(/\/$/, '')}/${name.replace('/', '%2f')}/${encodeURIComponent(version)}`
  const document = await read(url, documentBytesMax, `${name}@${version}`)
  const dist = recordOf(recordOf(JSON.parse(new TextDecoder().decode(document)))['dist'])
  const integrity = String(dist['integrity'] ?? '')
  if (!/^sha(?:256|384|512)-/.test(integrity)) {
    throw new TarballError(`The registry gives no integrity for ${name}@${version}.`)
  }
  const tarball = await read(String(dist['tarball']), libraryBytesMax, `${name}@${version}`)
  if (matchesIntegrity(tarball, integrity)) return tarball
  throw new TarballError(`The tarball of ${name}@${version} does not match its integrity.`)
}

async function read(url: string, bytesMax: number, what: string): Promise<Uint8Array> {
  const response = await fetchGuarded(url, {}, { bytesMax, ms }, undefined, anyNetwork).catch(
    () => undefined,
  )
  if (response?.ok) return response.bytes()
  const why = response ? `status ${response.status}` : 'no response'
  throw new TarballError(`The registry did not send ${what}: ${why}.`)
}
