import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import * as agents from '../agents/agents.ts'
import * as apps from '../apps/apps.ts'
import type { Person } from './people.ts'

export interface OwnedApp {
  app: apps.App
  agent: agents.Agent
}

/** Returns an app of the person's agents, in any state. Throws `not_found`. */
export async function getOwnedApp(ctx: AppContext, person: Person, id: string): Promise<OwnedApp> {
  const app = await apps.findApp(ctx, id)
  const agent = app && (await agents.findAgent(ctx, app.maker))
  if (agent && agent.owner === person.id && agent.closed === null) return { app, agent }
  throw new ApiError('not_found', { what: 'app', see: 'The pages of your agents list their apps.' })
}
