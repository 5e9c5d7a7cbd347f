import type { AppContext } from '../context.ts'
import { doctor } from '../ledger/doctor.ts'
import { networkWaitMs } from '../payments/limits.ts'
import { findOtherNetworks } from '../payments/networks.ts'
import { type CommandResult, failed } from './command-result.ts'

/** `berth doctor`: checks the ledger, and that each server of a chain is of its network. */
export async function doctorCommand(ctx: AppContext): Promise<CommandResult> {
  const [ledger, wrong] = await Promise.all([doctor(ctx), findOtherNetworks(ctx, networkWaitMs)])
  if (wrong.length === 0) return ledger
  return failed([ledger.text, 'A server of a chain is of another network:', ...wrong].join('\n'))
}
