import {
  packBytesMax,
  packFilesMax,
  pageFilesMax,
  pageFolderBytesMax,
  reasonsMax,
} from './limits.ts'
import { readDirectory, shown, ZipError } from './zip-directory.ts'
import { locateEntries, unpackEntry } from './zip-entries.ts'

export interface InputFile {
  path: string
  bytes: Uint8Array
}

/** The files of a zip, or why it cannot be read. */
export type ZipResult =
  | { files: InputFile[] }
  | { reasons: string[] }
  /** The sum of the announced sizes. */
  | { tooLarge: number }

/** The unpacked bytes and the files of a zip. */
export interface ZipBounds {
  bytesMax: number
  filesMax: number
}

export const packBounds: ZipBounds = { bytesMax: packBytesMax, filesMax: packFilesMax }
export const pageBounds: ZipBounds = { bytesMax: pageFolderBytesMax, filesMax: pageFilesMax }

/** Returns whether an uploaded file is a zip by its name or its first bytes. */
export const isZip = ({ name }: File, [first, second]: Uint8Array): boolean =>
  (first === 0x50 && second === 0x4b) || /\.zip$/i.test(name)

/**
 * Reads a zip within bounds. The directory of the archive is checked before anything is unpacked,
 * and unpacking stops at entries that are longer than announced. Browsers run this code, too.
 */
export async function unzip(zip: Uint8Array, bounds = packBounds): Promise<ZipResult> {
  try {
    return await readFiles(zip, bounds)
  } catch (error) {
    if (!(error instanceof ZipError)) throw error
    return { reasons: [`the zip cannot be read: ${error.message}`] }
  }
}

async function readFiles(zip: Uint8Array, { bytesMax, filesMax }: ZipBounds): Promise<ZipResult> {
  const directory = readDirectory(zip, filesMax)
  const size = directory.entries.reduce((sum, { bytes }) => sum + bytes, 0)
  if (size > bytesMax) return { tooLarge: size }
  const reasons = directory.entries.flatMap(({ path, problem }) =>
    problem === undefined ? [] : [`${shown(path)} ${problem}`],
  )
  if (reasons.length > 0) return { reasons: reasons.slice(0, reasonsMax) }
  const files: InputFile[] = []
  for (const { entry, packed } of locateEntries(zip, directory)) {
    const bytes = await unpackEntry(entry, packed)
    if (!entry.isFolder && !isOfSystem(entry.path)) files.push({ path: entry.path, bytes })
  }
  return { files: withoutTopFolder(files) }
}

/** Files that macOS and Windows add to a zip or a folder. */
const isOfSystem = (path: string): boolean =>
  /^__MACOSX\/|(?:^|\/)(?:\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)$/.test(path)

/** A zip of a folder has its name before every path. */
function withoutTopFolder(files: InputFile[]): InputFile[] {
  const top = files[0]?.path.split('/')[0]
  const isInFolder = files.every(({ path }) => path.startsWith(`${top}/`))
  if (!isInFolder || top === undefined) return files
  return files.map(({ path, bytes }) => ({ path: path.slice(top.length + 1), bytes }))
}
