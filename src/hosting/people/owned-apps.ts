import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import * as agents from '../agents/agents.ts'
import * as apps from '../apps/apps.ts'
import type { Person } from './people.ts'

/** An app and the agent that made it. */
export interface OwnedApp {
  app: apps.App
  agent: agents.Agent
}

/**
 * An app that an agent of the person made, whatever became of it. Refuses not_found, for another's
 * as for one that never was.
 */
export async function getOwnedApp(ctx: AppContext, person: Person, id: string): Promise<OwnedApp> {
  const app = await apps.findApp(ctx, id)
  const agent = app && (await agents.findAgent(ctx, app.maker))
  if (agent && agent.owner === person.id && agent.closed === null) return { app, agent }
  throw new ApiError('not_found', {
    what: 'app',
    see: 'Your agents and what they made are listed.',
  })
}
