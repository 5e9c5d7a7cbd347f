import type { Db } from '../db/engine.ts'
import { contents } from '../gateway/files/contents.ts'
import { madeAfter, madeIn } from '../gateway/made/contents.ts'
import { iconsAfter, iconsIn } from '../hosting/apps/icons.ts'
import { packsAfter, packsIn } from '../hosting/apps/packs.ts'
import { contentsAfter, contentsIn } from '../hosting/assets/contents.ts'

const pageSize = 100

/** The rooms whose rows name stored bytes: a file that none of them names is an orphan. */
const rooms = [
  { namedIn: packsIn, namedAfter: packsAfter },
  { namedIn: contentsIn, namedAfter: contentsAfter },
  { namedIn: iconsIn, namedAfter: iconsAfter },
  ...contents,
  { namedIn: madeIn, namedAfter: madeAfter },
]

/** Which of these stored contents some row names. */
export async function namedIn(db: Db, names: string[]): Promise<Set<string>> {
  const found = await Promise.all(rooms.map((room) => room.namedIn(db, names)))
  return found.reduce((all, some) => all.union(some), new Set<string>())
}

/** Every stored content that rows name, once, a bounded number at a time. */
export async function* allNamed(db: Db): AsyncGenerator<string[]> {
  for (const [index, room] of rooms.entries()) {
    for (let after = ''; ;) {
      const page = await room.namedAfter(db, after, pageSize)
      const last = page.at(-1)
      if (last === undefined) break
      after = last
      yield await withoutEarlier(db, index, page)
    }
  }
}

/** Bytes are shared by content, so two rooms may name the same: the first of them counts. */
async function withoutEarlier(db: Db, index: number, page: string[]): Promise<string[]> {
  const earlier = await Promise.all(rooms.slice(0, index).map((room) => room.namedIn(db, page)))
  return page.filter((name) => !earlier.some((names) => names.has(name)))
}
