import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { lazy } from '../../kernel/lazy.ts'
import { recordOf } from '../../kernel/schema.ts'
import type { Library, LibrarySource } from './library.ts'

/** The binary embeds the archive beside its bundle. */
const archiveDir = join(import.meta.dir, 'libraries')

/** The libraries that come with the program, opened at first use. */
export const embeddedLibraries = lazy(async (): Promise<Library[]> => {
  if (!Bun.isStandaloneExecutable) return readInstalled()
  const index: ArchiveIndex = JSON.parse(readFileSync(join(archiveDir, 'index.json'), 'utf8'))
  return openArchive(index, Bun.file(join(archiveDir, 'body.bin')))
})

/** Reads the libraries from node_modules, where the program runs from its sources. */
export async function readInstalled(): Promise<Library[]> {
  const { embeddedPackages } = await import('./embedded-packages.ts')
  return embeddedPackages.map(({ name, folder, files: globs }) => {
    const root = join(import.meta.dir, '../../node_modules', folder)
    const about = recordOf(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
    const paths = new Set(globs.flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: root })]))
    const kept = [...paths].filter((path) => !/\.(?:map|[cm]?ts)$/.test(path)).toSorted()
    const files = new Map(kept.map((path) => [path, statSync(join(root, path)).size]))
    return {
      name,
      version: String(about['version']),
      license: String(about['license'] ?? 'unknown'),
      source: 'embedded',
      files,
      read: (path) => Bun.file(join(root, path)).bytes(),
    } satisfies Library
  })
}

/** A file of the archive: offset and compressed bytes in the body, and its size. */
type ArchivedFile = [at: number, stored: number, bytes: number]

/** The table of contents of the archive that the binary embeds. */
interface ArchiveIndex {
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
const openArchive = (index: ArchiveIndex, body: Blob): Library[] =>
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
