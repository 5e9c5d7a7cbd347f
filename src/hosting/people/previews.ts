import type { AppContext } from '../../context.ts'
import * as agents from '../agents/agents.ts'
import * as apps from '../apps/apps.ts'
import { isPackKind } from '../kinds.ts'
import { findSessionUser } from './session-user.ts'

/**
 * Returns an app whose version the signed-in person may preview: its owner while the app is
 * available, and the operator in any state. Returns undefined otherwise.
 */
export async function findPreview(
  ctx: AppContext,
  request: Request,
  id: string,
  version: number,
): Promise<{ app: apps.App; maker: agents.Agent } | undefined> {
  const person = (await findSessionUser(ctx, request))?.person
  const app = person && (await apps.findApp(ctx, id))
  const maker = app && (await agents.findAgent(ctx, app.maker))
  if (!maker || isPackKind(app.kind)) return undefined
  const isAvailable = app.closed === null && app.takenDown === null && maker.closed === null
  if (!person.operator && !(maker.owner === person.id && isAvailable)) return undefined
  const [row] = await apps.listVersions(ctx, app, 1, version + 1)
  return row?.version === version ? { app, maker } : undefined
}
