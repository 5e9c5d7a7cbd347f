import { recordOf } from '../core/schema.ts'
import { libraryBytesMax, libraryFileBytesMax, libraryFilesMax } from './limits.ts'

/** A package that was read from an npm tarball. */
export interface UnpackedLibrary {
  name: string
  version: string
  license: string
  files: Map<string, Uint8Array>
}

/** Thrown for a tarball that is no npm package, or exceeds a bound. The message is for people. */
export class TarballError extends Error {}

const block = 512
const namePattern = /^(?:@[a-z0-9~-][\w.~-]{0,100}\/)?[a-z0-9~-][\w.~-]{0,100}$/
const versionPattern = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][\w.+-]{1,60})?$/
/** Files that pages load, and license texts. Types, maps and tests are left out. */
const kept =
  /(?:\.(?:m?js|cjs|css|wasm|woff2?|ttf|png|svg|gif)|^package\.json|^licen[cs]e[^/]*|^copying[^/]*)$/i
const skipped = /(?:^|\/)(?:test|tests|__tests__|node_modules)\/|\.(?:map|test\.m?js|spec\.m?js)$/

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0[^]*$/, '')

/** Reads the entries of an uncompressed tar (POSIX.1-2017, "ustar", with pax paths). */
function* entries(tar: Uint8Array): Generator<{ path: string; bytes: Uint8Array }> {
  let pax: string | undefined
  for (let at = 0; at + block <= tar.byteLength;) {
    const head = tar.subarray(at, at + block)
    if (head[0] === 0) return
    const size = Number.parseInt(text(head.subarray(124, 136)).trim() || '0', 8)
    if (!Number.isSafeInteger(size) || size < 0) throw new TarballError('The tarball is damaged.')
    const bytes = tar.subarray(at + block, at + block + size)
    if (bytes.byteLength < size) throw new TarballError('The tarball is cut off.')
    at += block + Math.ceil(size / block) * block
    const kind = String.fromCharCode(head[156] ?? 0)
    if (kind === 'x') {
      pax = /\d+ path=([^\n]+)\n/.exec(text(bytes))?.[1]
      continue
    }
    const prefix = text(head.subarray(345, 500))
    const name = text(head.subarray(0, 100))
    const path = pax ?? (prefix === '' ? name : `${prefix}/${name}`)
    pax = undefined
    if (kind === '0' || kind === '\0') yield { path, bytes }
  }
}

/** Returns a path without its first folder; undefined for one that leaves the package. */
function safePath(path: string): string | undefined {
  const inside = path.replace(/^[^/]*\//, '')
  const parts = inside.split('/')
  const isSafe =
    inside !== '' && parts.every((part) => part !== '' && part !== '.' && part !== '..')
  return isSafe && !/[\\\0]/.test(inside) && inside.length <= 300 ? inside : undefined
}

/** Reads an npm tarball. Throws TarballError. */
export function readTarball(packed: Uint8Array): UnpackedLibrary {
  const { gunzipSync } = process.getBuiltinModule('node:zlib')
  let tar: Uint8Array
  try {
    tar = gunzipSync(packed, { maxOutputLength: libraryBytesMax * 4 })
  } catch {
    throw new TarballError('The file is no gzip archive, or unpacks to too many bytes.')
  }
  const files = new Map<string, Uint8Array>()
  let bytes = 0
  for (const entry of entries(tar)) {
    const path = safePath(entry.path)
    if (path === undefined || !kept.test(path) || skipped.test(path)) continue
    if (entry.bytes.byteLength > libraryFileBytesMax) continue
    files.set(path, entry.bytes)
    bytes += entry.bytes.byteLength
    if (files.size > libraryFilesMax || bytes > libraryBytesMax) {
      throw new TarballError(
        `The package has more than ${libraryFilesMax} files or ${libraryBytesMax / 1_048_576} MB.`,
      )
    }
  }
  return { ...describe(files.get('package.json')), files }
}

function describe(manifest: Uint8Array | undefined): Omit<UnpackedLibrary, 'files'> {
  try {
    const about = recordOf(JSON.parse(text(manifest ?? new Uint8Array())))
    const [name, version] = [String(about['name']), String(about['version'])]
    const license = typeof about['license'] === 'string' ? about['license'].slice(0, 60) : 'unknown'
    if (namePattern.test(name) && versionPattern.test(version)) return { name, version, license }
  } catch {
    // The message below covers a missing and a malformed package.json.
  }
  throw new TarballError('The archive has no package.json with a name and a version.')
}
