import type { Config } from '../../../kernel/config/settings.ts'
import type { Engine } from '../../../kernel/db/engine.ts'
import { ApiError, type DirectPayment } from '../../../kernel/errors.ts'
import { lazy } from '../../../kernel/lazy.ts'
import type { Log } from '../../../kernel/log.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { type Clock, isWithin } from '../../../kernel/time.ts'
import { ChainReadError, EvmRpc, isConfirmed } from '../json-rpc.ts'
import { readinessMs, validityMaxMs, validityMinMs } from '../limits.ts'
import type { ServerHealth } from '../server-pool.ts'
import type { PaymentProblem } from './chain.ts'
import {
  authorizationIdOf,
  fromUnits,
  type OfferTerms,
  type Payment,
  type Receipt,
  requirementsOf,
  toUnits,
} from './headers.ts'
import { networkOf, type PaymentNetwork } from './network.ts'
import type { ProofProblem, ProvenTransfer, TransferClaim } from './proof.ts'
import { findPayment, listOpen, type PaymentRow } from './rows.ts'
import type { CreditObserver, Settlements } from './settlements.ts'

/** The share of a run that is due to the maker of its framework. */
export interface DueShare extends DirectPayment {
  amount: NanoUsd
}

/** The health of a server or of a part of the settlement. */
export type PaymentHealth = Pick<ServerHealth, 'name' | 'problem'>

interface X402Context {
  config: Config
  db: Engine
  clock: Clock
  log: Log
}

declare module '../../../kernel/context.ts' {
  interface AppContext {
    /** Payments of agents in USDC; undefined without X402_PAY_TO. */
    readonly x402: X402 | undefined
  }
}

/**
 * Payments of agents in USDC (docs/spec/payments.md, "x402"). The packages of the chain are loaded
 * with the first offer.
 */
export class X402 {
  readonly network: PaymentNetwork
  /** Runs in the transaction of every credit. server/http/background-work.ts registers it. */
  onCredit: CreditObserver | undefined
  readonly rpc: EvmRpc
  private settlements: Settlements | undefined
  private readiness: { at: number; problem: Promise<PaymentProblem | undefined> } | undefined

  constructor(private readonly ctx: X402Context) {
    const { config, log } = ctx
    this.network = networkOf(config)
    const { chainId, rpcUrls: urls } = this.network
    this.rpc = new EvmRpc({ chainId, urls, setting: 'X402_RPC_URLS', log })
  }

  /** Asks every server of the chain, and checks what else a settlement needs. */
  async check(): Promise<PaymentHealth[]> {
    await this.rpc.check()
    this.readiness = undefined
    return this.health()
  }

  /** Returns the problems of the servers, and of what else a settlement needs. */
  async health(): Promise<PaymentHealth[]> {
    const found = await this.findProblem()
    return [...this.rpc.health(), { name: found?.setting ?? 'Settlement', problem: found?.why }]
  }

  /** Goes on with the payments that may still change. */
  async resume(): Promise<void> {
    const open = await listOpen(this.ctx.db.read, this.network.id, 1)
    if (open.length > 0) await (await this.load()).settlements.resume()
  }

  /** Returns the problem for which no payment can be settled now; remembers it for 15 s. */
  findProblem(): Promise<PaymentProblem | undefined> {
    const { clock, log } = this.ctx
    if (this.readiness && isWithin(clock, this.readiness.at, readinessMs)) {
      return this.readiness.problem
    }
    const problem = this.load()
      .then(({ settlements }) => settlements.findProblem())
      .catch((error: unknown) => {
        if (!(error instanceof ChainReadError)) log.error('x402.unusable', error)
        const why = error instanceof Error ? error.message : 'unknown'
        return { setting: 'X402_RPC_URLS', why } as const
      })
      .then((found) => {
        if (found) log.warn('x402.no_offers', { ...found })
        return found
      })
    this.readiness = { at: clock.now(), problem }
    return problem
  }

  /**
   * Returns the terms of the smallest payment that adds an amount, or of the share of a run, which
   * the maker gets. Undefined where it is outside the limits of one payment, or while no payment
   * can be settled.
   */
  async termsFor(
    amount: NanoUsd,
    resource: string,
    share?: DirectPayment,
  ): Promise<OfferTerms | undefined> {
    const { x402PaymentMinUsd: min, x402PaymentMaxUsd: max } = this.ctx.config
    const payTo = share?.payTo ?? this.ctx.config.x402PayTo
    if (share && amount < min) return undefined
    if (amount > max || (await this.findProblem()) !== undefined) return undefined
    const units = toUnits(amount > min ? amount : min)
    return { network: this.network, payTo, amount: units, resource }
  }

  /**
   * Settles a payment and credits it to an account, once, or settles a share. Throws
   * `payment_rejected`, `payment_used`, `payment_pending`, `payments_off` and `try_again`.
   */
  async settle(
    payment: Payment,
    account: PaymentRow['account'],
    share?: DueShare,
  ): Promise<Receipt> {
    const why = this.problemOf(payment, share)
    const known = await this.findReceipt(payment, account)
    if (known) return known
    if (why !== undefined) throw new ApiError('payment_rejected', { why })
    try {
      const { settlements } = await this.load()
      const payer = { account, run: share?.run ?? null }
      return receiptOf(await settlements.settle(payment.signed, payer))
    } catch (error) {
      if (!(error instanceof ChainReadError)) throw error
      this.ctx.log.warn('x402.chain_unreadable', { why: error.message })
      throw new ApiError('try_again', {})
    }
  }

  /** Returns the receipt of a payment that an account was credited for. */
  async findReceipt(
    { signed }: Payment,
    account: PaymentRow['account'],
  ): Promise<Receipt | undefined> {
    const row = await findPayment(this.ctx.db.read, authorizationIdOf(this.network.id, signed))
    return row?.account === account && row.credited !== null ? receiptOf(row) : undefined
  }

  /** Proves a transfer of USDC by its transaction. Throws ChainReadError. */
  async prove(claim: TransferClaim): Promise<ProofProblem | ProvenTransfer[]> {
    return (await this.load()).prove(claim)
  }

  /** Returns whether a transaction succeeded on the chain, with the confirmations of a payment. */
  isConfirmed(tx: string): Promise<boolean> {
    return isConfirmed(this.rpc, tx, this.ctx.config.x402Confirmations)
  }

  /** Stops waiting for the chain. The next start goes on. */
  async close(): Promise<void> {
    await this.settlements?.close()
  }

  /** Returns the reason for which a payment cannot be one of ours, from its terms alone. */
  private problemOf({ version, signed, terms }: Payment, share?: DueShare): string | undefined {
    const { x402PaymentMinUsd, x402PaymentMaxUsd: max } = this.ctx.config
    const { amount: min, payTo } = share ?? {
      amount: x402PaymentMinUsd,
      payTo: this.ctx.config.x402PayTo,
    }
    const { to, value, validAfter, validBefore } = signed.authorization
    const own = requirementsOf({ network: this.network, payTo, amount: BigInt(value) })
    const network = version === 1 ? this.network.name : own.network
    if (terms.scheme !== own.scheme) return `its scheme is not "${own.scheme}"`
    if (terms.network !== network) return `its network is not ${network}`
    for (const field of ['asset', 'payTo', 'amount'] as const) {
      const differs = terms[field] !== undefined && !isSame(terms[field], own[field])
      if (differs) return `its ${field} is not ${own[field]}`
    }
    if (!isSame(to, payTo)) return `it pays ${to} instead of ${payTo}`
    const amount = fromUnits(BigInt(value))
    if (amount < min || amount > max) {
      return `it pays ${value} units, and a payment has ${toUnits(min)} to ${toUnits(max)}`
    }
    const now = BigInt(this.ctx.clock.now())
    const until = BigInt(validBefore) * 1_000n
    if (BigInt(validAfter) * 1_000n > now) return 'it is not valid yet'
    if (until < now + BigInt(validityMinMs)) return 'it has expired, or will within 6 seconds'
    return until > now + BigInt(validityMaxMs) ? 'it is valid for more than an hour' : undefined
  }

  private readonly load = lazy(async () => {
    const { loadPayments } = await import('./load.ts')
    const loaded = loadPayments({
      ...this.ctx,
      network: this.network,
      rpc: this.rpc,
      onCredit: async (db, row) => this.onCredit?.(db, row),
    })
    this.settlements = loaded.settlements
    return loaded
  })
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const receiptOf = ({ hash, payer, amount }: PaymentRow): Receipt => ({
  transaction: hash ?? '',
  payer,
  amount: toUnits(amount),
})
