import type { AppContext } from '../../context.ts'
import type { ServerHealth } from '../../payments/health.ts'
import { ServerReport } from './server-report.ts'

/** Returns the servers of the chains of top-ups that this process could not use last. */
export const findFailingServers = ({ coins }: AppContext): ServerHealth[] =>
  coins.chains().flatMap((chain) => chain.health().filter(({ problem }) => problem !== undefined))

export const chainServers = new ServerReport('chain-servers', (ctx, _input: null) =>
  findFailingServers(ctx),
)
