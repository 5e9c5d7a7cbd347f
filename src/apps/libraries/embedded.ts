import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { lazy } from '../../kernel/lazy.ts'
import { decompressBrotli } from '../../kernel/public-files.ts'
import { recordOf } from '../../kernel/schema.ts'
import type { Library, LibrarySource } from './library.ts'

/** The binary embeds the archive beside its bundle. */
const archiveDir = join(import.meta.dir, 'libraries')

/** The libraries that come with the program, opened at first use. */
export const embeddedLibraries = lazy(async (): Promise<Library[]> => {
  if (!Bun.isStandaloneExecutable) return readInstalled()
  const table = Bun.zstdDecompressSync(readFileSync(join(archiveDir, 'index.json.zst')))
  const index: ArchiveIndex = JSON.parse(String(table))
  return openArchive(index, Bun.file(join(archiveDir, 'body.bin')))
})

/** Reads the libraries from node_modules, where the program runs from its sources. */
export async function readInstalled(): Promise<Library[]> {
  const { embeddedPackages } = await import('./embedded-packages.ts')
  return embeddedPackages.map(({ name, folder, files, bundle }) => {
    const globs = bundle ? [...files, bundle.entry] : files
    const root = join(import.meta.dir, '../../../node_modules', folder)
    const bundled = lazy(() => bundleModule(join(root, bundle?.entry ?? '')))
    const about = recordOf(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
    const paths = new Set(globs.flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: root })]))
    const kept = [...paths].filter((path) => !/\.(?:map|[cm]?ts)$/.test(path)).toSorted()
    const sizes = new Map(kept.map((path) => [path, statSync(join(root, path)).size]))
    return {
      name,
      version: String(about['version']),
      license: String(about['license'] ?? 'unknown'),
      source: 'embedded',
      files: sizes,
      read: (path) => (path === bundle?.entry ? bundled() : Bun.file(join(root, path)).bytes()),
    } satisfies Library
  })
}

/** Makes one module of a module and all that it imports. Pages read the names of its errors. */
async function bundleModule(path: string): Promise<Uint8Array> {
  const { outputs } = await Bun.build({
    entrypoints: [path],
    target: 'browser',
    minify: { whitespace: true, syntax: true, identifiers: false },
  })
  return new Uint8Array((await outputs[0]?.arrayBuffer()) ?? [])
}

/** A file of the archive: its offset in the opened frame of its package, and its size. */
type ArchivedFile = [at: number, bytes: number]

/** Compressed bytes of the body: offset and length. */
type Frame = [at: number, stored: number]

/** The table of contents of the archive that the binary embeds. */
interface ArchiveIndex {
  libraries: {
    name: string
    version: string
    license: string
    frame: Frame
    files: Record<string, ArchivedFile>
  }[]
}

/**
 * Builds the archive: the index and the body, with one frame for all versions of a package. Their
 * files repeat each other, so a frame for each file would take a third more. `brotli` compresses.
 */
export async function buildArchive(
  libraries: readonly Library[],
  brotli: (bytes: Uint8Array) => Promise<Uint8Array>,
): Promise<{ index: ArchiveIndex; body: Uint8Array }> {
  const packages: { frame: Frame; bytes: Uint8Array }[] = []
  const index: ArchiveIndex = { libraries: [] }
  for (const [name, versions] of Map.groupBy(libraries, (library) => library.name)) {
    const parts: Uint8Array[] = []
    const frame: Frame = [0, 0]
    let at = 0
    for (const library of versions) {
      const files: Record<string, ArchivedFile> = {}
      for (const path of library.files.keys()) {
        const bytes = await library.read(path)
        files[path] = [at, bytes.byteLength]
        parts.push(bytes)
        at += bytes.byteLength
      }
      index.libraries.push({
        name,
        version: library.version,
        license: library.license,
        frame,
        files,
      })
    }
    packages.push({ frame, bytes: Buffer.concat(parts) })
  }
  const body = await Promise.all(packages.map(({ bytes }) => brotli(bytes)))
  let stored = 0
  for (const [at, { frame }] of packages.entries()) {
    const { byteLength = 0 } = body[at] ?? {}
    frame.splice(0, 2, stored, byteLength)
    stored += byteLength
  }
  return { index, body: Buffer.concat(body) }
}

/** Opens an archive. `body` is read in slices, one package at a time. */
export function openArchive(index: ArchiveIndex, body: Blob): Library[] {
  // A page often loads several files of one package.
  let last: { at: number; opened: Promise<Uint8Array> } | undefined
  const open = ([at, stored]: Frame): Promise<Uint8Array> => {
    if (last?.at !== at) {
      const compressed = body.slice(at, at + stored).bytes()
      last = { at, opened: compressed.then(decompressBrotli) }
    }
    return last.opened
  }
  return index.libraries.map(({ name, version, license, frame, files }) => ({
    name,
    version,
    license,
    source: 'embedded' satisfies LibrarySource,
    files: new Map(Object.entries(files).map(([path, [, bytes]]) => [path, bytes])),
    async read(path) {
      const entry = Object.hasOwn(files, path) ? files[path] : undefined
      if (!entry) throw new Error(`${name}@${version} has no ${path}`)
      const [at, bytes] = entry
      // A copy, because a view would keep the whole package in memory.
      return (await open(frame)).slice(at, at + bytes)
    },
  }))
}
