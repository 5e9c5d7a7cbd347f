import type { Config } from '../../config/settings.ts'
import type { Log } from '../../core/log.ts'
import { EvmRpc, type RpcHealth } from '../evm/rpc.ts'
import { networkOf, type PaymentNetwork } from './network.ts'

interface X402Context {
  config: Config
  log: Log
}

/** Payments of agents in USDC (docs/spec/payments.md, "x402"). */
export class X402 {
  readonly network: PaymentNetwork
  private readonly rpc: EvmRpc

  constructor(ctx: X402Context) {
    this.network = networkOf(ctx.config)
    const { chainId, rpcUrls: urls } = this.network
    this.rpc = new EvmRpc({ chainId, urls, setting: 'X402_RPC_URLS', log: ctx.log })
  }

  /** Asks every RPC server for its chain, and logs those that cannot be used. */
  check(): Promise<RpcHealth[]> {
    return this.rpc.check()
  }
}

/** Opens the payments; undefined while X402_PAY_TO is not set. */
export const openX402 = (ctx: X402Context): X402 | undefined =>
  ctx.config.x402PayTo === '' ? undefined : new X402(ctx)
