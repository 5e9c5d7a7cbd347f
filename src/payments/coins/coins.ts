import type { Config } from '../../config/settings.ts'
import { lazy } from '../../core/lazy.ts'
import type { Log } from '../../core/log.ts'
import type { Clock } from '../../core/time.ts'
import type { Engine } from '../../db/engine.ts'
import { EvmRpc } from '../evm/rpc.ts'
import { Esplora } from './esplora.ts'
import { openMethods } from './method.ts'
import { Rates } from './rates.ts'

/** Top-ups by coin: what the process keeps for them. Nothing is loaded before its first use. */
export class Coins {
  readonly rates: () => Rates
  /** The chain of ETH and USDT. */
  readonly evm: () => EvmRpc
  readonly esplora: () => Esplora

  constructor({ config, clock, log }: { config: Config; clock: Clock; log: Log }) {
    this.rates = lazy(() => new Rates(config, clock))
    this.evm = lazy(
      () =>
        new EvmRpc({
          chainId: config.topupEvmChain,
          urls: config.topupEvmRpcUrls,
          setting: 'TOPUP_EVM_RPC_URLS',
          log,
        }),
    )
    this.esplora = lazy(() => new Esplora(config.topupBtcNetwork, config.topupBtcEsploraUrls, log))
  }
}

/** The parts of AppContext that top-ups use. */
export interface CoinContext {
  config: Config
  db: Engine
  clock: Clock
  log: Log
  coins: Coins
}

/** Opens the top-ups. Throws where an extended public key or an address is damaged. */
export async function openCoins(ctx: { config: Config; clock: Clock; log: Log }): Promise<Coins> {
  const { config } = ctx
  if (openMethods(config).length > 0) {
    const { checkXpub, checkSolAddress } = await import('./addresses.ts')
    const { topupEvmXpub: evm, topupBtcXpub: btc, topupSolRecipient: sol } = config
    if (evm !== '') await checkXpub('TOPUP_EVM_XPUB', evm)
    if (btc !== '') await checkXpub('TOPUP_BTC_XPUB', btc)
    if (sol !== '') await checkSolAddress('TOPUP_SOL_RECIPIENT', sol)
  }
  return new Coins(ctx)
}
