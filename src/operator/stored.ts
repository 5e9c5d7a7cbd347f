import type { Db } from '../db/engine.ts'
import * as files from '../gateway/files/contents.ts'
import * as made from '../gateway/media-files/contents.ts'
import * as assets from '../hosting/apps/assets/contents.ts'
import * as apps from '../hosting/apps/contents.ts'

const pageSize = 100

/** All that rows name: a stored file that is none of it is an orphan. */
const all = [apps.packs, assets.contents, apps.icons, files.contents, files.words, made.contents]

/** Which of these stored contents some row names. */
export async function namedIn(db: Db, names: string[]): Promise<Set<string>> {
  const found = await Promise.all(all.map((one) => one.namedIn(db, names)))
  return found.reduce((named, some) => named.union(some), new Set<string>())
}

/** Every stored content that rows name, once, a bounded number at a time. */
export async function* allNamed(db: Db): AsyncGenerator<string[]> {
  for (const [index, one] of all.entries()) {
    for (let after = ''; ;) {
      const page = await one.namedAfter(db, after, pageSize)
      const last = page.at(-1)
      if (last === undefined) break
      after = last
      yield await withoutEarlier(db, index, page)
    }
  }
}

/** Bytes are shared by content, so two may name the same: the first of them counts. */
async function withoutEarlier(db: Db, index: number, page: string[]): Promise<string[]> {
  const earlier = await Promise.all(all.slice(0, index).map((one) => one.namedIn(db, page)))
  return page.filter((name) => !earlier.some((names) => names.has(name)))
}
