import { uploadContents } from '../../apps/app-data/uploads.ts'
import { appFiles } from '../../apps/apps.ts'
import * as assets from '../../apps/assets/assets.ts'
import { screenshotFiles } from '../../apps/covers/covers.ts'
import * as imports from '../../apps/imports/imports.ts'
import * as libraries from '../../apps/libraries/store.ts'
import * as files from '../../gateway/files/files.ts'
import * as mediaFiles from '../../gateway/media-files/media-files.ts'
import type { Db } from '../../kernel/db/engine.ts'

const pageSize = 100

/** The columns that reference stored files. A file that none references is an orphan. */
const references = [
  ...appFiles,
  ...assets.contents,
  uploadContents,
  ...screenshotFiles,
  libraries.files,
  libraries.uses,
  imports.ledgers,
  files.contents,
  files.words,
  mediaFiles.contents,
]

/** Returns those of the stored files that a row references. */
export async function findReferenced(db: Db, names: string[]): Promise<Set<string>> {
  const found = await Promise.all(references.map((one) => one.namedIn(db, names)))
  return found.reduce((all, some) => all.union(some), new Set<string>())
}

/** Lists every referenced file once, in pages. */
export async function* listReferenced(db: Db): AsyncGenerator<string[]> {
  for (const [index, one] of references.entries()) {
    for (let after = ''; ;) {
      const page = await one.namedAfter(db, after, pageSize)
      const last = page.at(-1)
      if (last === undefined) break
      after = last
      yield await withoutEarlier(db, index, page)
    }
  }
}

/** Files are shared by content, so two columns may reference one. The first of them lists it. */
async function withoutEarlier(db: Db, index: number, page: string[]): Promise<string[]> {
  const earlier = await Promise.all(references.slice(0, index).map((one) => one.namedIn(db, page)))
  return page.filter((name) => !earlier.some((names) => names.has(name)))
}
