import type { Config } from '../../../kernel/config/settings.ts'
import type { Engine } from '../../../kernel/db/engine.ts'
import { describeFailure } from '../../../kernel/fetch.ts'
import { lazy } from '../../../kernel/lazy.ts'
import type { Log } from '../../../kernel/log.ts'
import { fromUsd, nano, type NanoUsd } from '../../../kernel/money.ts'
import { itemsOf, lookUp, recordOf } from '../../../kernel/schema.ts'
import { type Clock, isWithin } from '../../../kernel/time.ts'
import { EvmRpc, type JsonRpc } from '../json-rpc.ts'
import { getJson, type ServerPool } from '../server-pool.ts'
import { openBitcoind, openEsplora } from './bitcoin.ts'
import { type Asset, networksOf, openMethods, rateAgeMax, rateFreshMs } from './method.ts'
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

type RatedAsset = Exclude<Asset, 'USDT'>
type Prices = Partial<Record<RatedAsset, NanoUsd>>

/** A rate in NanoUsd per coin, and its source. */
export interface Rate {
  rate: NanoUsd
  source: string
}

interface Source {
  name: string
  fetch(): Promise<Prices>
  prices: Prices
  fetchedAt: number
  problem: string | undefined
}

/** Parses a price in USD with up to nine decimals; more are cut. */
function parsePrice(value: unknown): NanoUsd | undefined {
  const text = typeof value === 'number' ? value.toFixed(9) : String(value)
  const [, cut] = /^(\d{1,12}(?:\.\d{1,9})?)\d*$/.exec(text) ?? []
  const price = cut === undefined ? undefined : fromUsd(cut)
  return price !== undefined && price > 0n ? price : undefined
}

const krakenPairs = { BTC: 'XXBTZUSD', ETH: 'XETHZUSD', SOL: 'SOLUSD' } as const
const geckoIds = { BTC: 'bitcoin', ETH: 'ethereum', SOL: 'solana' } as const
const ratedAssets = ['BTC', 'ETH', 'SOL'] as const

async function fetchKraken(base: string): Promise<Prices> {
  const body = recordOf(await getJson(`${base}/0/public/Ticker?pair=XBTUSD,ETHUSD,SOLUSD`))
  const pairs = recordOf(body['result'])
  return pricesOf((asset) => itemsOf(recordOf(pairs[krakenPairs[asset]])['c'])[0])
}

async function fetchCoinGecko(base: string): Promise<Prices> {
  const ids = Object.values(geckoIds).join(',')
  const path = `/api/v3/simple/price?ids=${ids}&vs_currencies=usd&precision=full`
  const body = recordOf(await getJson(base + path))
  return pricesOf((asset) => recordOf(body[geckoIds[asset]])['usd'])
}

function pricesOf(read: (asset: RatedAsset) => unknown): Prices {
  const prices: Prices = {}
  for (const asset of ratedAssets) {
    const price = parsePrice(read(asset))
    if (price !== undefined) prices[asset] = price
  }
  return prices
}

const usdt: Rate = { rate: nano(1_000_000_000n), source: 'par' }

/** Rates of coins in USD, from one or two sources or fixed ones (TOPUP_RATES). */
class Rates {
  private readonly fixed: Prices = {}
  private readonly sources: Source[] = []
  private refreshing: Promise<unknown> | undefined

  constructor(
    config: Config,
    private readonly clock: Clock,
  ) {
    const fetchers: Record<string, () => Promise<Prices>> = {
      kraken: () => fetchKraken(config.topupKrakenUrl || 'https://api.kraken.com'),
      coingecko: () => fetchCoinGecko(config.topupCoingeckoUrl || 'https://api.coingecko.com'),
    }
    for (const part of config.topupRates.split(',')) {
      const [name = '', price] = part.split('=')
      const asset = ratedAssets.find((one) => one === name)
      const fetch = lookUp(fetchers, name)
      const fixed = price === undefined ? undefined : parsePrice(price)
      if (asset && fixed !== undefined) this.fixed[asset] = fixed
      else if (fetch) {
        this.sources.push({ name, fetch, prices: {}, fetchedAt: -Infinity, problem: undefined })
      }
    }
  }

  /** Returns a rate that is safe to use now; undefined when there is none. USDT is 1 USD. */
  async find(asset: Asset): Promise<Rate | undefined> {
    if (asset === 'USDT') return usdt
    const fixed = this.fixed[asset]
    if (fixed !== undefined) return { rate: fixed, source: 'fixed' }
    await this.refresh()
    const found = this.sources.flatMap(({ name, prices, fetchedAt }) => {
      const rate = prices[asset]
      const isUsable = rate !== undefined && isWithin(this.clock, fetchedAt, rateAgeMax)
      return isUsable ? [{ rate, source: name }] : []
    })
    const [first, second] = found
    return first && second && isFar(first.rate, second.rate) ? undefined : first
  }

  /** Asks every source now and returns its problem; undefined for one that works. */
  async check(): Promise<{ name: string; problem: string | undefined }[]> {
    await Promise.all(this.sources.map((source) => this.load(source)))
    return this.sources.map(({ name, problem }) => ({ name, problem }))
  }

  private async refresh(): Promise<void> {
    this.refreshing ??= Promise.all(
      this.sources
        .filter(({ fetchedAt }) => !isWithin(this.clock, fetchedAt, rateFreshMs))
        .map((source) => this.load(source)),
    ).finally(() => (this.refreshing = undefined))
    await this.refreshing
  }

  private async load(source: Source): Promise<void> {
    const startedAt = this.clock.now()
    try {
      source.prices = await source.fetch()
      source.fetchedAt = startedAt
      const missing = ratedAssets.filter((asset) => source.prices[asset] === undefined)
      source.problem = missing.length > 0 ? `no price of ${missing.join(', ')}` : undefined
    } catch (error) {
      source.problem = describeFailure(error)
    }
  }
}

/** Returns whether two rates are more than 5 % of the smaller one apart. */
function isFar(one: bigint, other: bigint): boolean {
  const [low, high] = one < other ? [one, other] : [other, one]
  return (high - low) * 100n > low * 5n
}
