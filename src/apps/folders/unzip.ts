import { packBytesMax, packFilesMax, reasonsMax } from './limits.ts'
import { readDirectory, shown, tooManyFiles, type ZipEntry, ZipError } from './zip-directory.ts'
import { locateEntries, unpackEntry } from './zip-entries.ts'

/** A file of a folder or zip. */
export interface InputFile {
  path: string
  bytes: Uint8Array
}

/** The files of a zip, or why it cannot be read. */
export type ZipResult =
  | { files: InputFile[] }
  | { reasons: string[] }
  /** The announced size of all files, or of the one at `path`, and the bound that it exceeds. */
  | { tooLarge: number; max: number; path?: string }

/** Bounds of a zip: the bytes and the number of its files, and the bytes of one. */
export interface ZipBounds {
  bytesMax: number
  filesMax: number
  fileBytesMax?: number
}

/** The bounds of a zip that is sent, and the most bytes of it. */
export interface ZipLimits extends ZipBounds {
  zipBytesMax: number
}

export const packBounds: ZipBounds = { bytesMax: packBytesMax, filesMax: packFilesMax }

/** A file of a zip that can be unpacked alone. */
export type PackedFile = Pick<ZipEntry, 'path' | 'method' | 'bytes' | 'crc' | 'isFolder'> & {
  packed: Uint8Array
}

/** Returns whether an uploaded file is a zip by its name or its first bytes. */
export const isZip = ({ name }: File, [first, second]: Uint8Array): boolean =>
  (first === 0x50 && second === 0x4b) || /\.zip$/i.test(name)

/**
 * Reads a zip within bounds. The directory of the archive is checked before anything is unpacked,
 * and unpacking stops at entries that are longer than announced. Browsers run this code, too.
 */
export async function unzip(zip: Uint8Array, bounds = packBounds): Promise<ZipResult> {
  const plan = planZip(zip, bounds)
  if (!('packed' in plan)) return plan
  const found = await unpackFiles(plan.packed)
  return 'files' in found ? { files: withoutTopFolder(found.files) } : found
}

/** Checks the structure of a zip and its bounds. Unpacks nothing. */
export function planZip(
  zip: Uint8Array,
  bounds: ZipBounds,
): Exclude<ZipResult, { files: InputFile[] }> | { packed: PackedFile[] } {
  try {
    return locateFiles(zip, bounds)
  } catch (error) {
    return reasonsOf(error)
  }
}

/** Unpacks files of a zip, in their order. */
export async function unpackFiles(
  packed: PackedFile[],
): Promise<{ files: InputFile[] } | { reasons: string[] }> {
  try {
    const files: InputFile[] = []
    for (const file of packed) {
      const bytes = await unpackEntry(file, file.packed)
      if (!file.isFolder && !isOfSystem(file.path)) files.push({ path: file.path, bytes })
    }
    return { files }
  } catch (error) {
    return reasonsOf(error)
  }
}

function reasonsOf(error: unknown): { reasons: string[] } {
  if (!(error instanceof ZipError)) throw error
  return { reasons: [`the zip cannot be read: ${error.message}`] }
}

function locateFiles(zip: Uint8Array, { bytesMax, filesMax, fileBytesMax }: ZipBounds) {
  const directory = readDirectory(zip, filesMax)
  const files = directory.entries.filter(({ path, isFolder }) => !isFolder && !isOfSystem(path))
  if (files.length > filesMax) throw tooManyFiles(files.length, filesMax)
  const size = directory.entries.reduce((sum, { bytes }) => sum + bytes, 0)
  if (size > bytesMax) return { tooLarge: size, max: bytesMax }
  const largest = directory.entries.find(({ bytes }) => bytes > (fileBytesMax ?? bytesMax))
  if (largest && fileBytesMax !== undefined) {
    return { tooLarge: largest.bytes, max: fileBytesMax, path: largest.path }
  }
  const reasons = directory.entries.flatMap(({ path, problem }) =>
    problem === undefined ? [] : [`${shown(path)} ${problem}`],
  )
  if (reasons.length > 0) return { reasons: reasons.slice(0, reasonsMax) }
  const packed = locateEntries(zip, directory).map(({ entry, packed }): PackedFile => {
    const { path, method, bytes, crc, isFolder } = entry
    return { path, method, bytes, crc, isFolder, packed }
  })
  return { packed }
}

/** Files that macOS and Windows add to a zip or a folder. */
const isOfSystem = (path: string): boolean =>
  /^__MACOSX\/|(?:^|\/)(?:\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)$/.test(path)

/** Removes the name of the folder that a zip of one has before every path. */
export function withoutTopFolder(files: InputFile[]): InputFile[] {
  const top = files[0]?.path.split('/')[0]
  const isInFolder = files.every(({ path }) => path.startsWith(`${top}/`))
  if (!isInFolder || top === undefined) return files
  return files.map(({ path, bytes }) => ({ path: path.slice(top.length + 1), bytes }))
}
