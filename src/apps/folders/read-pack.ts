import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import { lookUp } from '../../kernel/schema.ts'
import { detectFileKind } from '../../store/file-kind.ts'
import { byPath, gzip, packTar } from './archive.ts'
import type { Folder, FolderFile } from './folder.ts'
import { readHeader } from './frontmatter.ts'
import {
  packBytesMax,
  packFilesMax,
  pathFolderCharsMax,
  reasonsMax,
  skillTextBytesMax,
} from './limits.ts'
import { inOtherForms, pathKey, pathProblem } from './paths.ts'
import type { InputFile } from './unzip.ts'

export const skillFile = 'SKILL.md'

/** A valid folder: its archive, uncompressed and compressed, and what was read from it. */
export interface Pack {
  name: string
  folder: Folder
  tar: Uint8Array<ArrayBuffer>
  gzip: Uint8Array<ArrayBuffer>
}

export function rejectPack(reasons: string[]): never {
  throw new ApiError('bad_skill', { reasons: reasons.slice(0, reasonsMax) })
}

/** Reads the files of a pack. Throws `too_large` over 2 MB, and `bad_skill` with reasons. */
export async function readPack(files: InputFile[]): Promise<Pack> {
  const bytes = files.reduce((sum, file) => sum + file.bytes.byteLength, 0)
  if (bytes > packBytesMax) throw new ApiError('too_large', { bytes, max: packBytesMax })
  const reasons = [...countProblems(files), ...pathProblems(files)]
  if (reasons.length > 0) rejectPack(reasons)
  for (const file of files) reasons.push(...(await contentProblems(file)))
  const skill = files.find(({ path }) => path === skillFile)
  if (reasons.length > 0 || !skill) rejectPack(reasons)
  const { header, reasons: wrong } = await readHeader(new TextDecoder().decode(skill.bytes))
  if (!header) rejectPack(wrong)
  const { name, ...frontmatter } = header
  const tar = packTar(files)
  const compressed = gzip(tar)
  const listed = files.toSorted(byPath).map(toFolderFile)
  const folder = { ...frontmatter, files: listed, archive: sha256(compressed) }
  return { name, folder, tar, gzip: compressed }
}

const toFolderFile = ({ path, bytes }: InputFile): FolderFile => ({
  path,
  bytes: bytes.byteLength,
  sha256: sha256(bytes),
})

function countProblems(files: InputFile[]): string[] {
  if (files.length > packFilesMax) {
    return [`the pack has ${files.length} files; at most ${packFilesMax} are allowed.`]
  }
  return files.some(({ path }) => path === skillFile)
    ? []
    : ['the pack has no SKILL.md in its top folder.']
}

/** Returns what is wrong with the paths: each by itself, and names that collide. */
function pathProblems(files: InputFile[]): string[] {
  const seen = new Set<string>()
  return files
    .flatMap(({ path }) => {
      const shown = JSON.stringify(path.slice(0, 2 * pathFolderCharsMax))
      const problem = pathProblem(path)
      if (problem !== undefined) return [`the path ${shown} is invalid: ${problem}.`]
      const key = pathKey(path)
      const isTaken = seen.has(key)
      seen.add(key)
      return isTaken ? [`the path ${shown} is there twice, ${inOtherForms}. Rename one file.`] : []
    })
    .concat(folderProblems(files))
}

/** Returns the files whose path is also the folder of another file. */
function folderProblems(files: InputFile[]): string[] {
  const folders = new Set(
    files.flatMap(({ path }) => {
      const parts = path.toLowerCase().split('/').slice(0, -1)
      return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
    }),
  )
  return files.flatMap(({ path }) =>
    folders.has(path.toLowerCase()) ? [`${JSON.stringify(path)} is a file and a folder.`] : [],
  )
}

const imageTypes: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
}

/** Returns the type of an image by its name; undefined for text. */
export const imageTypeOf = (path: string): string | undefined =>
  lookUp(imageTypes, /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '')

async function contentProblems({ path, bytes }: InputFile): Promise<string[]> {
  const type = imageTypeOf(path)
  if (type !== undefined) {
    const found = await detectFileKind(bytes, packBytesMax)
    const isImage = 'type' in found && found.type === type
    const why = 'reason' in found ? found.reason : `its content is ${found.type}`
    return isImage ? [] : [`${path} is not a ${type.slice(6).toUpperCase()} image: ${why}.`]
  }
  if (path === skillFile && bytes.byteLength > skillTextBytesMax) {
    return [`${path} has more than ${skillTextBytesMax / 1_024} KB.`]
  }
  const line = binaryLine(bytes)
  if (line === undefined) return []
  return [
    `${path} line ${line}: this is not UTF-8 text. Only text, PNG, JPEG and WebP are allowed.`,
  ]
}

/** Returns the line of the first byte that is no text; undefined for text in UTF-8. */
function binaryLine(bytes: Uint8Array): number | undefined {
  const zero = bytes.indexOf(0)
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (zero < 0) return undefined
  } catch {
    // The decoder does not say where it failed.
    if (zero < 0) return 1
  }
  return bytes.subarray(0, zero).reduce((lines, byte) => lines + Number(byte === 10), 1)
}
