import { type Library, type LibrarySource } from './library.ts'

/** A file of the archive: offset and compressed bytes in the body, and its size. */
export type ArchivedFile = [at: number, stored: number, bytes: number]

/** The table of contents of the archive that the binary embeds. */
export interface ArchiveIndex {
  libraries: {
    name: string
    version: string
    license: string
    files: Record<string, ArchivedFile>
  }[]
}

/** Files that are compressed already. */
const packed = /\.(?:woff2?|png|gif)$/
const level = 19

/** Builds the archive: the index, and each file compressed by itself, so that one can be read. */
export async function buildArchive(
  libraries: readonly Library[],
): Promise<{ index: ArchiveIndex; body: Uint8Array }> {
  const parts: Uint8Array[] = []
  let at = 0
  const index: ArchiveIndex = { libraries: [] }
  for (const library of libraries) {
    const { name, version, license } = library
    const files: Record<string, ArchivedFile> = {}
    for (const path of library.files.keys()) {
      const bytes = await library.read(path)
      const stored = packed.test(path) ? bytes : await Bun.zstdCompress(bytes, { level })
      files[path] = [at, stored.byteLength, bytes.byteLength]
      parts.push(stored)
      at += stored.byteLength
    }
    index.libraries.push({ name, version, license, files })
  }
  return { index, body: Buffer.concat(parts) }
}

/** Opens an archive. `body` is read in slices, one file at a time. */
export const openArchive = (index: ArchiveIndex, body: Blob): Library[] =>
  index.libraries.map(({ name, version, license, files }) => ({
    name,
    version,
    license,
    source: 'embedded' satisfies LibrarySource,
    files: new Map(Object.entries(files).map(([path, [, , bytes]]) => [path, bytes])),
    async read(path) {
      const entry = Object.hasOwn(files, path) ? files[path] : undefined
      if (!entry) throw new Error(`${name}@${version} has no ${path}`)
      const stored = await body.slice(entry[0], entry[0] + entry[1]).bytes()
      return packed.test(path) ? stored : new Uint8Array(await Bun.zstdDecompress(stored))
    },
  }))
