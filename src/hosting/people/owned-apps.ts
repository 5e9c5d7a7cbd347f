import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
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
export async function theOwnedApp(house: House, person: Person, id: string): Promise<OwnedApp> {
  const app = await apps.find(house, id)
  const agent = app && (await agents.find(house, app.maker))
  if (agent && agent.owner === person.id && agent.closed === null) return { app, agent }
  throw new Refusal('not_found', { what: 'app', see: 'Your agents and what they made are listed.' })
}
