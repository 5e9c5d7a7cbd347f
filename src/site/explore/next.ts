import * as explore from '../../apps/explore/explore.ts'
import type { AppContext } from '../../server/context.ts'

/** Most played items that "Next" walks through. */
const itemsMax = 100

/**
 * Returns the path of the next most played item of the same kind. After the last, starts again.
 * Throws `not_found`, `taken_down`.
 */
export async function nextPath(ctx: AppContext, id: string): Promise<string> {
  const { kind } = (await explore.getItem(ctx, id)).item
  const { items } = await explore.listTiles(ctx, { kind, sort: 'played', limit: itemsMax })
  const at = items.findIndex((one) => one.id === id)
  return `/a/${(items[at + 1] ?? items[0])?.id ?? id}`
}
