import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { idPattern } from '../../kernel/ids.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { type App, findApp } from '../apps.ts'
import { isPackKind } from '../kinds.ts'
import { notOnExplore } from '../listings.ts'
import { getPack, readFiles } from '../packs/packs.ts'

/** Returns a pack on Explore, or an own one. Throws `not_found` and `taken_down`. */
export async function findRunPack(
  ctx: AppContext,
  agent: Agent,
  { pack: id, version }: { pack: string; version?: number | undefined },
) {
  const item = await findApp(ctx, id)
  if (!item || !isPackKind(item.kind)) throw notOnExplore()
  const { row, folder } = await getPack(ctx, agent, { id, kind: item.kind, version })
  const [skill] = await readFiles(ctx, row)
  const instructions = new TextDecoder().decode(skill?.bytes)
  const { steps = [], share } = folder
  return { item, version: row.version, instructions, steps, share }
}

/** Returns a pack whose record and reports are public. Throws `not_found`. */
export async function getPublicPack(
  ctx: AppContext,
  id: string,
  reader: Agent | undefined,
): Promise<App> {
  const item = idPattern.test(id) ? await findApp(ctx, id) : undefined
  if (!item || !isPackKind(item.kind) || item.closed !== null) throw noPack()
  if (item.listed === 'on' || item.maker === reader?.id) return item
  throw noPack()
}

const noPack = () =>
  new ApiError('not_found', { what: 'pack on Explore', see: 'GET /explore?kind=skill lists some.' })
