import { listActingAgents } from '../apps/owners/owned-agents.ts'
import type { AppContext } from '../kernel/context.ts'
import { nano, type NanoUsd } from '../kernel/money.ts'
import { agentOwner } from '../money/ledger/accounts.ts'
import * as ledger from '../money/ledger/ledger.ts'
import type { Agent } from '../people/agents/agents.ts'
import { type Person, walletOf } from '../people/people.ts'

/** The money of a person. Header, wallet and agents show these numbers and no others. */
export interface Balances {
  /** The wallet and all agents: what the person can spend. */
  total: NanoUsd
  wallet: NanoUsd
  agents: { agent: Agent; available: NanoUsd }[]
}

const agentsMax = 50

/** Reads what a person can spend, as a sum and by its places. */
export async function readBalances(ctx: AppContext, person: Person): Promise<Balances> {
  const owned = (await listActingAgents(ctx, person)).slice(0, agentsMax)
  const [wallet, ...balances] = await Promise.all([
    ledger.balanceOf(ctx, walletOf(person)),
    ...owned.map(({ id }) => ledger.balanceOf(ctx, agentOwner(id))),
  ])
  const agents = owned.map((agent, at) => ({
    agent,
    available: balances[at]?.available ?? nano(0n),
  }))
  const total = agents.reduce((sum, { available }) => sum + available, BigInt(wallet.available))
  return { total: nano(total), wallet: wallet.available, agents }
}
