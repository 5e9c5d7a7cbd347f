import type { AppContext } from '../../kernel/context.ts'
import { ownConditions } from './alerts.ts'
import {
  chainServers,
  clientCosts,
  newestErrors,
  newestRequests,
  requestDetails,
  serverStates,
} from './servers.ts'

const all = [
  chainServers,
  clientCosts,
  newestErrors,
  newestRequests,
  ownConditions,
  requestDetails,
  serverStates,
]
const byName = new Map(all.map((report) => [report.name, report.respond.bind(report)]))

/** Returns a report of this server; undefined where a newer version asks for an unknown one. */
export async function respond(
  ctx: AppContext,
  name: string,
  input: string,
): Promise<string | undefined> {
  return byName.get(name)?.(ctx, input)
}
