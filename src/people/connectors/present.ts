import type { AppContext } from '../../kernel/context.ts'
import { iso } from '../../kernel/time.ts'
import { findHandles } from '../agents/agents.ts'
import type { Connector } from './connectors.ts'

/** Returns connectors as their person sees them. */
export async function presentConnectors(ctx: AppContext, connectors: readonly Connector[]) {
  const handles = await findHandles(
    ctx,
    connectors.map(({ agent }) => agent),
  )
  return connectors.map(({ id, clientName, agent, scopes, created, used }) => ({
    id,
    name: clientName,
    handle: handles.get(agent) ?? '',
    scopes,
    created: iso(created),
    used: iso(used),
  }))
}
