import type { Config } from '../../../kernel/config/settings.ts'
import type { Engine } from '../../../kernel/db/engine.ts'
import { lazy } from '../../../kernel/lazy.ts'
import type { Log } from '../../../kernel/log.ts'
import type { Clock } from '../../../kernel/time.ts'
import { EvmRpc, type JsonRpc } from '../json-rpc.ts'
import type { ServerPool } from '../server-pool.ts'
import { openBitcoind, openEsplora } from './bitcoin.ts'
import { networksOf, openMethods } from './method.ts'
import { Rates } from './rates.ts'
import { openSolana } from './solana.ts'

declare module '../../../kernel/context.ts' {
  interface AppContext {
    /** Top-ups by coin: rates and chains. */
    readonly coins: Coins
  }
}

/** Top-ups by coin: what the process keeps for them. Nothing is loaded before its first use. */
export class Coins {
  readonly rates: () => Rates
  /** The chain of ETH and USDT. */
  readonly evm: () => EvmRpc
  /** The servers of Bitcoin: an own bitcoind where TOPUP_BTC_RPC_URL is set, else Esplora. */
  readonly bitcoind: () => JsonRpc
  readonly esplora: () => ServerPool
  readonly solana: () => JsonRpc
  /** Scripts that the wallet of an own bitcoind watches, as far as this process knows. */
  readonly watchedScripts = new Set<string>()
  /** The contract of TOPUP_USDT_TOKEN has the decimals of USDT. */
  hasCheckedToken = false

  constructor(private readonly ctx: { config: Config; clock: Clock; log: Log }) {
    const { config, clock, log } = ctx
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
    const { topupBtcNetwork: network, topupBtcRpcUrl: node } = config
    this.bitcoind = lazy(() => openBitcoind(network, node, log))
    this.esplora = lazy(() => openEsplora(network, config.topupBtcEsploraUrls, log))
    this.solana = lazy(() => openSolana(config, log))
  }

  /** Returns the servers of the networks that the settings turn on. */
  chains(): (JsonRpc | ServerPool)[] {
    const { topupBtcRpcUrl: node } = this.ctx.config
    const networks = networksOf(this.ctx.config)
    const has = (kind: string) => networks.some((network) => network.startsWith(kind))
    return [
      ...(has('eip155:') ? [this.evm()] : []),
      ...(has('bitcoin:') ? [node === '' ? this.esplora() : this.bitcoind()] : []),
      ...(has('solana:') ? [this.solana()] : []),
    ]
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
