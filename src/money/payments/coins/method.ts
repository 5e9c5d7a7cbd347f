import type { Config } from '../../../kernel/config/settings.ts'
import { nano, type NanoUsd } from '../../../kernel/money.ts'
import { day, hour, minute, second } from '../../../kernel/time.ts'

/** The coins that pay for top-ups (document 2, POST /topup/create/{method}). */
export const methods = ['usdt', 'btc', 'eth', 'sol'] as const
export type Method = (typeof methods)[number]

export type Asset = 'USDT' | 'BTC' | 'ETH' | 'SOL'

/** Facts of a coin. A unit is its smallest amount: `decimals` digits after the point. */
export interface Coin {
  method: Method
  asset: Asset
  name: string
  decimals: number
  /** Time for which an invoice has a fixed rate, in milliseconds. */
  lockMs: number
}

export const coins: Record<Method, Coin> = {
  usdt: { method: 'usdt', asset: 'USDT', name: 'Tether USD', decimals: 6, lockMs: 60 * minute },
  btc: { method: 'btc', asset: 'BTC', name: 'Bitcoin', decimals: 8, lockMs: 15 * minute },
  eth: { method: 'eth', asset: 'ETH', name: 'Ether', decimals: 18, lockMs: 15 * minute },
  sol: { method: 'sol', asset: 'SOL', name: 'Solana', decimals: 9, lockMs: 15 * minute },
}

export const coinOf = (asset: string): Coin | undefined =>
  Object.values(coins).find((coin) => coin.asset === asset)

const usdtOfEthereum = '0xdAC17F958D2ee523a2206206994597C13D831ec7'

/** Returns the contract of USDT on the configured chain; empty where it is not known. */
export const usdtToken = ({ topupUsdtToken, topupEvmChain }: Config): string =>
  topupUsdtToken || (topupEvmChain === 1 ? usdtOfEthereum : '')

/** Returns the setting that a method lacks; undefined for a method that is on. */
export function missingSetting(config: Config, method: Method): string | undefined {
  if (method === 'btc') return config.topupBtcXpub === '' ? 'TOPUP_BTC_XPUB' : undefined
  if (method === 'sol') return config.topupSolRecipient === '' ? 'TOPUP_SOL_RECIPIENT' : undefined
  if (config.topupEvmXpub === '') return 'TOPUP_EVM_XPUB'
  return method === 'usdt' && usdtToken(config) === '' ? 'TOPUP_USDT_TOKEN' : undefined
}

export const openMethods = (config: Config): Method[] =>
  methods.filter((method) => missingSetting(config, method) === undefined)

/** Returns the network of a method: "eip155:1", "bitcoin:mainnet", "solana:devnet". */
export function networkOf(config: Config, method: Method): string {
  if (method === 'btc') return `bitcoin:${config.topupBtcNetwork}`
  if (method === 'sol') return `solana:${config.topupSolNetwork}`
  return `eip155:${config.topupEvmChain}`
}

/** Returns the networks that the server watches. */
export const networksOf = (config: Config): string[] => [
  ...new Set(openMethods(config).map((method) => networkOf(config, method))),
]

/** Returns how many blocks confirm a payment of a network; Solana's `finalized` counts as one. */
export function requiredConfirmations(config: Config, network: string): number {
  if (network.startsWith('eip155:')) return config.topupEvmConfirmations
  return network.startsWith('bitcoin:') ? config.topupBtcConfirmations : 1
}

/** Returns the units that pay an amount at a rate (NanoUsd per coin), rounded up. */
export const unitsFor = (amount: NanoUsd, rate: NanoUsd, { decimals }: Coin): bigint =>
  (amount * 10n ** BigInt(decimals) + rate - 1n) / rate

/** Returns the value of units at a rate (NanoUsd per coin), rounded down. */
export const valueOf = (units: bigint, rate: NanoUsd, { decimals }: Coin): NanoUsd =>
  nano((units * rate) / 10n ** BigInt(decimals))

/** Formats units as coins, "0.00012". */
export function formatUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0')
  const [whole, fraction] = [digits.slice(0, -decimals), digits.slice(-decimals)]
  return `${whole}.${fraction}`.replace(/\.?0+$/, '')
}

/** Time after the end of an invoice in which its payments are still credited. */
export const lateMs = 7 * day
/** Unpaid invoices of an account that are watched. */
export const openInvoicesMax = 50
/** Age of a rate that is still used. */
export const rateAgeMax = 2 * minute
/** Age of a rate that is fetched again. */
export const rateFreshMs = 20 * second
/** Lease of a watcher. A process that ends without a word is replaced after it. */
export const leaseMs = 2 * minute
/** Time after which a watcher without a successful poll counts as failed. */
export const watcherSilenceMs = 3 * minute
/** Longest pause of a watcher that fails. */
export const backOffMsMax = 5 * minute
/** Invoices that one pass of a watcher asks for. */
export const invoicesPerPass = 500
/** Blocks that one pass of a watcher reads. */
export const blocksPerPass = 500
/** Intervals of asking for an invoice: while it is open, in the hour after, and later. */
export const pollAfter = { open: 0, recent: 2 * minute, old: hour } as const
