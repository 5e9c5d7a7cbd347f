import { and, asc, eq } from 'drizzle-orm'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import { lookUp } from '../../kernel/schema.ts'
import { embeddedLibraries } from './embedded.ts'
import {
  addedLibrariesMax,
  fetchedLibrariesMax,
  labelOf,
  type Library,
  libraryFilesMax,
  type PageLibraries,
} from './library.ts'
import { libraries, libraryFiles, libraryUses } from './tables.ts'
import { compareVersions, pickVersion } from './versions.ts'

const storedMax = addedLibrariesMax + fetchedLibrariesMax

/** The part of the storage that holds the files of added libraries. */
export interface LibraryContents {
  read(sha256: string): Promise<Uint8Array | undefined>
}

/** Names of packages whose files for browsers are in another package. */
const browserBuilds: Readonly<Record<string, string>> = {
  'highlight.js': '@highlightjs/cdn-assets',
  tailwindcss: '@tailwindcss/browser',
}

/** Clients of model APIs, whose calls are alike in all versions from this major number on. */
const compatibleFrom: Readonly<Record<string, number>> = {
  openai: 4,
  '@anthropic-ai/sdk': 0,
  '@google/genai': 0,
  '@google/generative-ai': 0,
}

export interface FoundLibrary {
  library: Library
  /** False for the nearest version, where the store lacks the requested one. */
  isExact: boolean
}

/**
 * Finds the version of a package for an npm range. Undefined where no version is near. A version
 * that was fetched for a page is no substitute for another one.
 */
export function findLibrary(
  all: readonly Library[],
  name: string,
  range: string,
): FoundLibrary | undefined {
  const versions = all.filter((library) => library.name === name)
  const kept = versions.filter(({ source, version }) => source !== 'fetched' || version === range)
  const other = lookUp(browserBuilds, name)
  if (versions.length === 0 && other !== undefined) return findLibrary(all, other, range)
  const pick = (own: Library[]): FoundLibrary | undefined => {
    const numbers = own.map(({ version }) => version)
    const picked = pickVersion(numbers, range, lookUp(compatibleFrom, name))
    const library = own.find(({ version }) => version === picked?.version)
    return library && picked && { library, isExact: picked.isExact }
  }
  const found = pick(kept)
  if (found?.isExact) return found
  const fetched = pick(versions)
  return fetched?.isExact || kept.length === 0 ? fetched : found
}

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** The npm packages that pages can load. */
    readonly libraries: LibraryStore
  }
}

/** The libraries of this instance: those of the binary, and those in the database. */
export class LibraryStore {
  constructor(
    private readonly db: Engine,
    private readonly contents: LibraryContents,
  ) {}

  /** Returns all libraries, by name and then newest first. */
  async list(): Promise<Library[]> {
    const embedded = await embeddedLibraries()
    const added = await this.added()
    // The program may have some files only of a package that was fetched whole.
    const known = new Set(added.filter(({ source }) => source === 'added').map(labelOf))
    return [...embedded.filter((one) => !known.has(labelOf(one))), ...added].toSorted(
      (a, b) => a.name.localeCompare(b.name) || compareVersions(a.version, b.version),
    )
  }

  private async added(): Promise<Library[]> {
    const rows = await this.db.read.select().from(libraries).limit(storedMax)
    return Promise.all(rows.map((row) => this.open(row)))
  }

  private async open(row: typeof libraries.$inferSelect): Promise<Library> {
    const { name, version, license, source } = row
    const files = await this.db.read
      .select()
      .from(libraryFiles)
      .where(and(eq(libraryFiles.name, name), eq(libraryFiles.version, version)))
      .orderBy(asc(libraryFiles.path))
      .limit(libraryFilesMax)
    const named = new Map(files.map((file) => [file.path, file]))
    return {
      name,
      version,
      license,
      source,
      files: new Map(files.map(({ path, bytes }) => [path, bytes])),
      read: async (path) => {
        const content = await this.contents.read(named.get(path)?.sha256 ?? '')
        if (!content) throw new Error(`${name}@${version} has no ${path}`)
        return content
      },
    }
  }
}

const nameParts = /^berth:((?:@[^/]+\/)?[^/]+@[^/]+)\//

/** Records which library files a version of an app uses, so that they are kept. */
export async function recordUses(
  db: Db,
  app: string,
  version: number,
  libraries: PageLibraries | null,
): Promise<void> {
  const rows = (libraries?.files ?? []).map(({ name, sha256, type }) => {
    return { app, version, library: nameParts.exec(name)?.[1] ?? 'fonts', sha256, type }
  })
  if (rows.length > 0) await db.insert(libraryUses).values(rows).onConflictDoNothing()
}

/** Returns the type of a library file that an app uses; undefined for any other content. */
export async function findUsedType(db: Db, sha256: string): Promise<string | undefined> {
  const [row] = await db
    .select({ type: libraryUses.type })
    .from(libraryUses)
    .where(eq(libraryUses.sha256, sha256))
    .limit(1)
  return row?.type
}

/** Deletes the records of a deleted app. */
export const deleteUses = (db: Db, app: string) =>
  db.delete(libraryUses).where(eq(libraryUses.app, app))

/** The columns of library files, for the check which stored files are referenced. */
export const files = contentReferences(libraryFiles.sha256)
export const uses = contentReferences(libraryUses.sha256)
