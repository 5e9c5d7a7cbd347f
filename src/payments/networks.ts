import type { Coins } from './coins/coins.ts'
import type { X402 } from './x402/x402.ts'

/** A server that the settings name for a chain is of another one. */
class OtherNetwork extends Error {
  constructor(problems: string[]) {
    super(`A server of a chain is of another network. ${problems.join(' ')}`)
    this.name = 'OtherNetwork'
  }
}

/**
 * Asks the servers of all chains which network they serve. Throws OtherNetwork for one that answers
 * within `waitMs` and is of another network. One that is down does not stop a start
 * (docs/decisions/0084).
 */
export async function checkNetworks(
  ctx: { coins: Coins; x402: X402 | undefined },
  waitMs: number,
): Promise<void> {
  const chains = [...ctx.coins.chains(), ...(ctx.x402 ? [ctx.x402.rpc] : [])]
  const checks = Promise.all(chains.map((chain) => chain.check()))
  await Promise.race([checks, Bun.sleep(waitMs)])
  const wrong = chains.flatMap((chain) => chain.health()).filter((one) => one.isOfOtherNetwork)
  if (wrong.length === 0) return
  throw new OtherNetwork(wrong.map(({ name, problem }) => `${name}: ${problem}`))
}
