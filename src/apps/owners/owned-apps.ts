import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import * as agents from '../../people/agents/agents.ts'
import type { Person } from '../../people/people.ts'
import * as apps from '../apps.ts'
import type { Kind } from '../kinds.ts'

export interface OwnedApp {
  app: apps.App
  agent: agents.Agent
}

/** Finds an item of these kinds of the person's agents, in any state. */
export async function findOwnedItem(
  ctx: AppContext,
  person: Person,
  id: string,
  of: readonly Kind[],
): Promise<OwnedApp | undefined> {
  const found = await apps.findApp(ctx, id)
  const app = found && of.includes(found.kind) ? found : undefined
  const agent = app && (await agents.findAgent(ctx, app.maker))
  if (agent && agent.owner === person.id && agent.closed === null) return { app, agent }
  return undefined
}

/** Returns an item of these kinds of the person's agents, in any state. Throws `not_found`. */
export async function getOwnedItem(
  ctx: AppContext,
  person: Person,
  id: string,
  of: readonly Kind[],
): Promise<OwnedApp> {
  const found = await findOwnedItem(ctx, person, id, of)
  if (found) return found
  throw new ApiError('not_found', { what: 'app', see: 'The pages of your agents list their apps.' })
}
