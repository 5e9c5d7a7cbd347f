import { inArray } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { agents } from './tables.ts'

/** The maker page of an agent by its handle, with or without @ (document 1, section 2). */
export const makerPageUrl = ({ urls }: AppContext, handle: string): string =>
  `${urls.app}/explore/@${handle.replace('@', '')}`

/** The handles of these agents, by id. A handle never changes, so it is read once. */
export async function findHandles(ctx: AppContext, ids: string[]): Promise<Map<string, string>> {
  const known = ctx.state.agentHandles
  const unknown = [...new Set(ids)].filter((id) => known.get(id) === undefined)
  if (unknown.length > 0) {
    const rows = await ctx.db.read
      .select({ id: agents.id, handle: agents.handle })
      .from(agents)
      .where(inArray(agents.id, unknown))
    for (const { id, handle } of rows) known.set(id, handle)
  }
  return new Map(ids.map((id) => [id, known.get(id) ?? '']))
}
