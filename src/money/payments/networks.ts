import type { ErrorDetails } from '../../kernel/errors.ts'
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
 * Asks the servers of all chains which network they serve, for at most `waitMs`. Returns the names
 * and problems of those that are of another one.
 */
export async function findOtherNetworks(
  { coins, x402 }: { coins: Coins; x402: X402 | undefined },
  waitMs: number,
): Promise<string[]> {
  const chains = [...coins.chains(), ...(x402 ? [x402.rpc] : [])]
  const checks = Promise.all(chains.map((chain) => chain.check()))
  await Promise.race([checks, Bun.sleep(waitMs)])
  return chains
    .flatMap((chain) => chain.health())
    .filter(({ isOfOtherNetwork }) => isOfOtherNetwork)
    .map(({ name, problem }) => `${name}: ${problem}`)
}

/** Throws OtherNetwork for a server of another network. One that is down stops no start. */
export async function checkNetworks(
  ctx: { coins: Coins; x402: X402 | undefined },
  waitMs: number,
): Promise<void> {
  const wrong = await findOtherNetworks(ctx, waitMs)
  if (wrong.length > 0) throw new OtherNetwork(wrong)
}

/** Returns the message of `payments_off`, which both APIs have. */
export function paymentsOffMessage(details: ErrorDetails['payments_off']): string {
  const { setting, isSet = false, advice = 'Nothing was charged. Ask its operator.' } = details
  if (setting === undefined) return `This server takes no payments of this kind. ${advice}`
  return isSet
    ? `This server cannot take payments now: its operator has to check ${setting}. ${advice} Try again later.`
    : `This server takes no payments: its operator has not set ${setting}. ${advice}`
}
