import { HTTPFacilitatorClient } from '@x402/core/http'
import { LRUCache } from 'lru-cache'
import { BaseError, formatEther, keccak256 } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

import type { Engine } from '../../../kernel/db/engine.ts'
import { databaseErrorKind } from '../../../kernel/db/error.ts'
import { SerialQueue } from '../../../kernel/fair-queue.ts'
import type { Log } from '../../../kernel/log.ts'
import { second } from '../../../kernel/time.ts'
import { settlementGas, settlementsMax } from '../limits.ts'
import { type Chain, hexOf, type PaymentProblem, type Sender } from './chain.ts'
import { authorizationKey, requirementsOf } from './headers.ts'
import type { PaymentNetwork } from './network.ts'
import { findPayment, findSending, type PaymentRow, updatePayment } from './rows.ts'

interface WalletContext {
  db: Engine
  log: Log
}

/**
 * Settles payments with transactions of the server's gas wallet, one at a time. A transaction is
 * stored before it is broadcast, so that a crash loses none.
 */
export class GasWallet implements Sender {
  readonly wallet: string
  private readonly account: PrivateKeyAccount
  private readonly queue = new SerialQueue()

  constructor(
    private readonly ctx: WalletContext,
    private readonly chain: Chain,
    key: string,
  ) {
    this.account = privateKeyToAccount(hexOf(key))
    this.wallet = this.account.address.toLowerCase()
  }

  send(row: PaymentRow): Promise<PaymentRow> {
    return this.queue.run(() => this.signAndSend(row))
  }

  async resend(row: PaymentRow): Promise<PaymentRow> {
    const { db } = this.ctx
    const next = await this.countTransactions('latest')
    if (row.raw === null || row.walletNonce === null || row.wallet !== this.wallet) return row
    // After a reorganization, the number may belong to another transaction of the wallet. The
    // stored transaction is then dead, and a new one moves the same authorization, which is used
    // at most once.
    if (next > row.walletNonce) {
      const received = { state: 'received', raw: null, hash: null, walletNonce: null } as const
      await db.tx((tx) => updatePayment(tx, row, 'sent', received))
      return { ...row, ...received }
    }
    await this.broadcast(row.raw)
    return row
  }

  async findProblem(): Promise<PaymentProblem | undefined> {
    const { client } = this.chain
    const { address } = this.account
    const [balance, { maxFeePerGas }] = await Promise.all([
      client.getBalance({ address }),
      this.estimateFees(),
    ])
    const needed = maxFeePerGas * settlementGas
    if (balance >= needed) return undefined
    const why = `The gas wallet ${address} has ${formatEther(balance)} ETH, and one settlement may cost ${formatEther(needed)}. Send ETH to it.`
    return { setting: 'X402_GAS_KEY', why }
  }

  private async signAndSend(row: PaymentRow): Promise<PaymentRow> {
    const { db } = this.ctx
    const { network } = this.chain
    if (await findSending(db.read, network.id, this.wallet)) return row
    const signed = await this.sign(row)
    if (!signed) return row
    const sent = { ...signed, state: 'sent', wallet: this.wallet } as const
    try {
      const isChanged = await db.tx((tx) => updatePayment(tx, row, 'received', sent))
      if (!isChanged) return (await findPayment(db.read, row)) ?? row
    } catch (error) {
      // Another process with this wallet sends now.
      if (databaseErrorKind(error) === 'unique') return row
      throw error
    }
    await this.broadcast(signed.raw)
    return { ...row, ...sent }
  }

  /** Signs the transaction of a payment; undefined where the chain would revert it. */
  private async sign({ signed }: PaymentRow) {
    const { client, network } = this.chain
    const call = this.chain.transferCall(signed)
    const { address: from } = this.account
    const gas = await client.estimateGas({ account: from, ...call }).catch((error: unknown) => {
      if (error instanceof BaseError && isRevert(error)) return undefined
      throw error
    })
    if (gas === undefined) return undefined
    const [walletNonce, pending, fees] = await Promise.all([
      this.countTransactions('latest'),
      this.countTransactions('pending'),
      this.estimateFees(),
    ])
    // An unmined transaction is replaced only by one that pays more.
    const factor = pending > walletNonce ? 2n : 1n
    const raw = await this.account.signTransaction({
      type: 'eip1559',
      chainId: network.chainId,
      ...call,
      nonce: walletNonce,
      gas: (gas * 5n) / 4n,
      maxFeePerGas: fees.maxFeePerGas * factor,
      maxPriorityFeePerGas: fees.maxPriorityFeePerGas * factor,
    })
    return { raw, hash: keccak256(raw), walletNonce }
  }

  /** Returns the fees of a transaction, which still suffice when the base fee doubles. */
  private async estimateFees() {
    const { maxFeePerGas, maxPriorityFeePerGas } = await this.chain.client.estimateFeesPerGas()
    return { maxFeePerGas: maxFeePerGas * 2n, maxPriorityFeePerGas }
  }

  private countTransactions(blockTag: 'latest' | 'pending'): Promise<number> {
    return this.chain.client.getTransactionCount({ address: this.account.address, blockTag })
  }

  /** Broadcasts a stored transaction. A failure is logged: the chain tells what became of it. */
  private async broadcast(raw: string): Promise<void> {
    await this.chain.client
      .sendRawTransaction({ serializedTransaction: hexOf(raw) })
      .catch((error: unknown) => {
        const why = error instanceof BaseError ? error.details : 'no server responds'
        if (!/already known|already imported/i.test(why))
          this.ctx.log.warn('x402.broadcast', { why })
      })
  }
}

/** Returns whether the chain itself refused a call. Other errors are those of its servers. */
const isRevert = (error: BaseError): boolean =>
  error.walk((cause) => cause instanceof Error && /revert/i.test(cause.message)) !== null

interface FacilitatorContext {
  db: Engine
  log: Log
}

interface FacilitatorOptions {
  url: string
  /** Bearer token; '' for none. */
  token: string
  network: PaymentNetwork
}

const timeoutMs = 20 * second
const resendMs = 15 * second

/**
 * Settles payments through a facilitator (version 2 of x402). Its responses decide nothing: a
 * failure without a transaction may still have moved the money, so the chain is asked.
 */
export class Facilitator implements Sender {
  readonly wallet = null
  private readonly client: HTTPFacilitatorClient
  /** Payments that the facilitator got lately, and gets again later. */
  private readonly recent = new LRUCache<string, true>({ max: settlementsMax * 2, ttl: resendMs })

  constructor(
    private readonly ctx: FacilitatorContext,
    private readonly options: FacilitatorOptions,
  ) {
    const { url, token } = options
    const headers = { authorization: `Bearer ${token}` }
    const createAuthHeaders = async () => ({ verify: headers, settle: headers, supported: headers })
    this.client = new HTTPFacilitatorClient({
      url,
      timeoutMs,
      ...(token !== '' && { createAuthHeaders }),
    })
  }

  async send(row: PaymentRow): Promise<PaymentRow> {
    const { db } = this.ctx
    const sent = { state: 'sent' } as const
    if (!(await db.tx((tx) => updatePayment(tx, row, 'received', sent)))) {
      return (await findPayment(db.read, row)) ?? row
    }
    return this.settle({ ...row, ...sent })
  }

  async resend(row: PaymentRow): Promise<PaymentRow> {
    return this.recent.has(authorizationKey(row)) ? row : this.settle(row)
  }

  async findProblem(): Promise<PaymentProblem | undefined> {
    const { network } = this.options
    try {
      const { kinds } = await this.client.getSupported()
      const isSupported = kinds.some(
        (kind) => kind.x402Version === 2 && kind.scheme === 'exact' && kind.network === network.id,
      )
      if (isSupported) return undefined
      return problem(`It does not settle "exact" payments of ${network.id} in version 2 of x402.`)
    } catch {
      return problem('It does not respond.')
    }
  }

  private async settle(row: PaymentRow): Promise<PaymentRow> {
    this.recent.set(authorizationKey(row), true)
    const { network } = this.options
    const { to: payTo, value } = row.signed.authorization
    const requirements = requirementsOf({ network, payTo, amount: BigInt(value) })
    const payload = { x402Version: 2, accepted: requirements, payload: { ...row.signed } }
    try {
      const { success, transaction, errorReason } = await this.client.settle(payload, requirements)
      if (!success) this.ctx.log.warn('x402.facilitator', { why: errorReason })
      const hash = /^0x[0-9a-fA-F]{64}$/.test(transaction) ? transaction.toLowerCase() : null
      return { ...row, hash }
    } catch (error) {
      this.ctx.log.warn('x402.facilitator', {
        why: error instanceof Error ? error.name : 'unknown',
      })
      return row
    }
  }
}

const problem = (why: string) => ({ setting: 'FACILITATOR_URL', why }) as const
