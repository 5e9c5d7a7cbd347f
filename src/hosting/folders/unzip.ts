import type { Entry, ZipFile } from 'yauzl'

import { messageOf } from '../../core/text.ts'
import { packBytesMax, packFilesMax } from './limits.ts'

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

const fileTypeMask = 0o170000
const regularFile = 0o100000

const modeOf = ({ externalFileAttributes }: Entry): number =>
  (externalFileAttributes >>> 16) & fileTypeMask

const problemOf = (entry: Entry): string | undefined => {
  if (entry.isEncrypted()) return 'is encrypted. Send a zip without a password.'
  const type = modeOf(entry)
  const isLink = type !== 0 && type !== regularFile
  return isLink ? 'is a link or a special file. Send the file itself.' : undefined
}

const isFolder = ({ fileName }: Entry): boolean => fileName.endsWith('/')

/**
 * Reads a zip within bounds. The directory of the archive is checked before anything is unpacked,
 * and the library stops at entries that are longer than announced.
 */
export async function unzip(bytes: Uint8Array, bounds = packBounds): Promise<ZipResult> {
  const { fromBufferPromise } = await import('yauzl')
  try {
    const zip = await fromBufferPromise(Buffer.from(bytes), { lazyEntries: true })
    return await readEntries(zip, bounds)
  } catch (error) {
    return { reasons: [`the zip cannot be read: ${messageOf(error)}.`] }
  }
}

async function readEntries(zip: ZipFile, { bytesMax, filesMax }: ZipBounds): Promise<ZipResult> {
  const entries: Entry[] = []
  for await (const entry of zip.eachEntry()) {
    entries.push(entry)
    // Folders have entries of their own.
    if (entries.length > 2 * filesMax) {
      return { reasons: [`the zip has more than ${filesMax} files.`] }
    }
  }
  const all = entries.filter((entry) => !isFolder(entry))
  const size = all.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  if (size > bytesMax) return { tooLarge: size }
  const reasons = all.flatMap((entry) => {
    const problem = problemOf(entry)
    return problem === undefined ? [] : [`${JSON.stringify(entry.fileName)} ${problem}`]
  })
  if (reasons.length > 0) return { reasons }
  const files: InputFile[] = []
  for (const entry of all) {
    files.push({ path: entry.fileName, bytes: await readEntry(zip, entry) })
  }
  return { files: withoutTopFolder(files) }
}

async function readEntry(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** A zip of a folder has its name before every path. */
function withoutTopFolder(files: InputFile[]): InputFile[] {
  const top = files[0]?.path.split('/')[0]
  const isInFolder = files.every(({ path }) => path.startsWith(`${top}/`))
  if (!isInFolder || top === undefined) return files
  return files.map(({ path, bytes }) => ({ path: path.slice(top.length + 1), bytes }))
}
