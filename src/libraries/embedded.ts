import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { lazy } from '../core/lazy.ts'
import { recordOf } from '../core/schema.ts'
import { type ArchiveIndex, openArchive } from './archive.ts'
import type { Library } from './library.ts'

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
