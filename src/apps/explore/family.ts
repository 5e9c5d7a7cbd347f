import type { AppContext } from '../../kernel/context.ts'
import { findHandles } from '../../people/agents/agents.ts'
import * as apps from '../apps.ts'
import { presentCover } from '../covers/present-cover.ts'
import * as listed from '../listings.ts'
import { iconUrl } from '../present.ts'
import { ancestorsOf } from '../remix/lineage.ts'
import type { Ancestor, Family, FamilyItem } from './schemas.ts'

const nodesMax = 50
/** Remixes of an item that are shown at each of the three levels. */
const childrenMax = [20, 8, 4]
const ancestorsMax = 10

/** A remix with its place in the tree. */
interface Branch {
  row: listed.TileApp
  of: string
  level: number
  hasMore: boolean
}

/**
 * Returns the family tree of an item: its origins, and its remixes on Explore, in three levels and
 * at most 50. An origin that is not on Explore has no name. Throws `not_found`, `taken_down`.
 */
export async function readFamily(ctx: AppContext, id: string): Promise<Family> {
  const app = await listed.getListed(ctx, id)
  const all = app.remixOf === null ? [] : await ancestorsOf(ctx, id)
  const near = all.slice(0, ancestorsMax).toReversed()
  const origins = await listed.tilesById(
    ctx,
    near.map((one) => one.id),
  )
  const { branches, hasMore } = await findBranches(ctx, id)
  const rows = [app, ...origins, ...branches.map(({ row }) => row)]
  const handles = await findHandles(
    ctx,
    rows.map(({ maker }) => maker),
  )
  const show = (row: listed.TileApp): FamilyItem => ({
    id: row.id,
    kind: row.kind,
    title: row.title,
    shelf: row.shelf,
    icon: iconUrl(ctx, row),
    cover: presentCover(ctx, row),
    maker: `@${handles.get(row.maker)}`,
  })
  const ancestors = near.map(async ({ id: origin }): Promise<Ancestor> => {
    const row = origins.find((one) => one.id === origin)
    return row ? { state: 'listed', item: show(row) } : findHidden(ctx, origin)
  })
  return {
    ancestors: await Promise.all(ancestors),
    earlier: all.length - near.length,
    item: { ...show(app), hasMore },
    remixes: branches.map(({ row, of, level, hasMore: more }) => ({
      ...show(row),
      of,
      level,
      hasMore: more,
    })),
  }
}

/** Says why an origin has no name: it was removed, or Explore does not list it. */
async function findHidden(ctx: AppContext, id: string): Promise<Ancestor> {
  const app = await apps.findApp(ctx, id)
  const isRemoved = !app || app.closed !== null || app.takenDown !== null
  return { state: isRemoved ? 'removed' : 'unlisted', item: null }
}

/** Finds the remixes below an item level by level, until there are enough. */
async function findBranches(ctx: AppContext, root: string) {
  const branches: Branch[] = []
  const known = new Set([root])
  const add = async (of: string, level: number): Promise<boolean> => {
    const count = Math.min(childrenMax[level] ?? 0, nodesMax - branches.length)
    const rows = await listed.remixesOf(ctx, of, count + 1)
    // An import may name origins that its items never had.
    for (const row of rows.slice(0, count).filter((one) => !known.has(one.id))) {
      known.add(row.id)
      branches.push({ row, of, level: level + 1, hasMore: false })
    }
    return rows.length > count
  }
  const hasMore = await add(root, 0)
  // The list grows while it is read.
  for (const branch of branches) branch.hasMore = await add(branch.row.id, branch.level)
  return { branches, hasMore }
}
