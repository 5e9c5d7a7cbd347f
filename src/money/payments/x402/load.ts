import type { Config } from '../../../kernel/config/settings.ts'
import type { Engine } from '../../../kernel/db/engine.ts'
import type { Log } from '../../../kernel/log.ts'
import { type Clock, second } from '../../../kernel/time.ts'
import { type EvmRpc, readChain } from '../json-rpc.ts'
import { Chain } from './chain.ts'
import type { PaymentNetwork } from './network.ts'
import {
  type ProofProblem,
  type ProvenTransfer,
  proveTransfer,
  type TransferClaim,
} from './proof.ts'
import { Facilitator, GasWallet } from './senders.ts'
import { type CreditObserver, Settlements } from './settlements.ts'

interface LoadContext {
  config: Config
  db: Engine
  clock: Clock
  log: Log
  network: PaymentNetwork
  rpc: EvmRpc
  onCredit: CreditObserver
}

interface Loaded {
  settlements: Settlements
  /** Proves a transfer with the transactions of the chain. Throws ChainReadError. */
  prove(claim: TransferClaim): Promise<ProofProblem | ProvenTransfer[]>
}

/** Creates what settles payments. This module and its imports are loaded with the first use. */
export function loadPayments(ctx: LoadContext): Loaded {
  const { config, network, rpc } = ctx
  const chain = new Chain(network, rpc)
  const sender =
    config.x402GasKey === ''
      ? new Facilitator(ctx, {
          url: config.facilitatorUrl,
          token: config.facilitatorToken,
          network,
        })
      : new GasWallet(ctx, chain, config.x402GasKey)
  const settlements = new Settlements(ctx, chain, sender, {
    payTo: config.x402PayTo,
    confirmations: config.x402Confirmations,
    dayMax: config.x402DayMaxUsd,
    waitMs: config.x402WaitSeconds * second,
  })
  return { settlements, prove: (claim) => readChain(() => proveTransfer(chain, claim)) }
}
