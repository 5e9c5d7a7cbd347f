import { recordOf } from '../../kernel/schema.ts'
import { libraryBytesMax, libraryFileBytesMax, libraryFilesMax } from './library.ts'

/** A package that was read from an npm tarball. */
export interface UnpackedLibrary {
  name: string
  version: string
  license: string
  files: Map<string, Uint8Array>
}

/** Thrown for a tarball that is no npm package, or exceeds a bound. The message is for people. */
export class TarballError extends Error {}

/** Thrown where the same package may be read later. */
export class BusyError extends TarballError {}

const block = 512
const namePattern = /^(?:@[a-z0-9~-][\w.~-]{0,100}\/)?[a-z0-9~-][\w.~-]{0,100}$/
const versionPattern = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][\w.+-]{1,60})?$/
/** Files that pages load, and license texts. Types, maps and tests are left out. */
const kept =
  /(?:\.(?:m?js|cjs|css|wasm|woff2?|ttf|png|svg|gif)|^package\.json|^licen[cs]e[^/]*|^copying[^/]*)$/i
/** Files that scripts load as data. They are kept where the bounds leave a place for them. */
const data =
  /\.(?:json|geojson|csv|tsv|txt|xml|bin|data|mem|bcmap|pfb|traineddata|task|tflite|onnx|glb|gltf|hdr|ktx2|jpe?g|webp|mp3|ogg|wav)$/i
const skippedData = /(?:^|\/)(?:tsconfig|package(?!\.json$)|composer|bower|\.\w+)[^/]*\.json$/i
const skipped = /(?:^|\/)(?:test|tests|__tests__|node_modules)\/|\.(?:map|test\.m?js|spec\.m?js)$/

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\0[^]*$/, '')

/** Types of entries: "0" and NUL are files, "1" to "4" and "6" are links, devices and pipes. */
const special = /^[12346]$/

const damaged = (why: string): TarballError =>
  new TarballError(`${why}. Download the package again, or pack it with "npm pack".`)
const shown = (path: string): string => JSON.stringify(path.slice(0, 200))

/** Returns the number of a header field; its digits are octal. */
function octalAt(head: Uint8Array, start: number, end: number): number {
  const digits = text(head.subarray(start, end)).trim()
  return digits === '' ? 0 : /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
}

/** Checks the sum of the bytes of a header, in which the sum itself counts as spaces. */
function hasRightSum(head: Uint8Array): boolean {
  const sum = head.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  return sum === octalAt(head, 148, 156)
}

/** Reads the entries of an uncompressed tar (POSIX.1-2017, "ustar", with pax and GNU paths). */
function* entries(tar: Uint8Array): Generator<{ path: string; bytes: Uint8Array }> {
  let longPath: string | undefined
  for (let at = 0; at + block <= tar.byteLength;) {
    const head = tar.subarray(at, at + block)
    if (head[0] === 0 && head.every((byte) => byte === 0)) return
    const prefix = text(head.subarray(345, 500))
    const name = text(head.subarray(0, 100))
    const path = longPath ?? (prefix === '' ? name : `${prefix}/${name}`)
    const size = octalAt(head, 124, 136)
    if (!hasRightSum(head) || !Number.isSafeInteger(size)) {
      throw damaged(`The header of ${shown(path)} is damaged`)
    }
    const bytes = tar.subarray(at + block, at + block + size)
    if (bytes.byteLength < size) throw damaged(`The tarball is cut off in ${shown(path)}`)
    at += block + Math.ceil(size / block) * block
    const kind = String.fromCharCode(head[156] ?? 0)
    longPath = undefined
    if (kind === 'x') longPath = /(?:^|\n)\d+ path=([^\n]+)\n/.exec(text(bytes))?.[1]
    else if (kind === 'L') longPath = text(bytes)
    else if (special.test(kind)) {
      throw damaged(`${shown(path)} is a link or a special file, which no package may have`)
    } else if (kind === '0' || kind === '\0') yield { path, bytes }
  }
  throw damaged('The tarball is cut off: its end is missing')
}

/**
 * Returns a path without its first folder; undefined for one that no page can name. Throws
 * TarballError for a path that leaves the package.
 */
function pathInside(path: string): string | undefined {
  if (/^(?:\/|[a-z]:)|[\\\p{Cc}]|(?:^|\/)\.\.(?:\/|$)/iu.test(path)) {
    throw damaged(`The path ${shown(path)} leaves the package`)
  }
  const inside = path.replace(/^[^/]*\//, '')
  const isPlain = inside.split('/').every((part) => part !== '' && part !== '.')
  return isPlain && inside.length <= 300 ? inside : undefined
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
  const later = new Map<string, Uint8Array>()
  let bytes = 0
  for (const entry of entries(tar)) {
    const path = pathInside(entry.path)
    if (path === undefined || skipped.test(path)) continue
    if (entry.bytes.byteLength > libraryFileBytesMax) continue
    if (!kept.test(path)) {
      if (data.test(path) && !skippedData.test(path)) later.set(path, entry.bytes)
      continue
    }
    if (files.has(path)) throw damaged(`The tarball has ${shown(entry.path)} twice`)
    files.set(path, entry.bytes)
    bytes += entry.bytes.byteLength
    if (files.size > libraryFilesMax || bytes > libraryBytesMax) {
      throw new TarballError(
        `The package has more than ${libraryFilesMax} files or ${libraryBytesMax / 1_048_576} MB.`,
      )
    }
  }
  for (const [path, content] of later) {
    bytes += content.byteLength
    if (files.size >= libraryFilesMax || bytes > libraryBytesMax) break
    files.set(path, content)
  }
  return { ...describe(files.get('package.json')), files }
}

function describe(manifest: Uint8Array | undefined): Omit<UnpackedLibrary, 'files'> {
  try {
    const about = recordOf(JSON.parse(text(manifest ?? new Uint8Array())))
    const name = String(about['name'])
    // npm publishes "v1.2.3" and "=1.2.3" as 1.2.3.
    const version = String(about['version']).replace(/^[v=\s]+/, '')
    const license = typeof about['license'] === 'string' ? about['license'].slice(0, 60) : 'unknown'
    if (namePattern.test(name) && versionPattern.test(version)) return { name, version, license }
  } catch {
    // The message below covers a missing and a malformed package.json.
  }
  throw new TarballError('The archive has no package.json with a name and a version.')
}
