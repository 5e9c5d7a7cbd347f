import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { findAgent } from '../people/agents/agents.ts'
import type { SessionSender } from '../people/session-user.ts'
import { type App, checkBuilt, requireAvailable } from './apps.ts'
import { findOpenApp } from './audience/access.ts'
import { isPackKind } from './kinds.ts'

/**
 * Returns an app that the sender may open: its calls of `service` work. Throws `not_found`, also
 * for a pack and an app in quarantine, `taken_down`, and `busy` before its first version.
 */
export async function getPlayable(
  ctx: AppContext,
  id: string,
  sender: SessionSender,
): Promise<App> {
  const app = requireAvailable(await findOpenApp(ctx, id, sender))
  const maker = await findAgent(ctx, app.maker)
  const isWithdrawn = app.quarantinedAt !== null || !maker || maker.suspended !== null
  if (isWithdrawn || isPackKind(app.kind)) throw new ApiError('not_found', { what: 'app' })
  checkBuilt(app)
  return app
}
