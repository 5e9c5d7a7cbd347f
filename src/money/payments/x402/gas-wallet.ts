import { BaseError, formatEther, keccak256 } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

import type { Engine } from '../../../kernel/db/engine.ts'
import { databaseErrorKind } from '../../../kernel/db/error.ts'
import type { Log } from '../../../kernel/log.ts'
import { SerialQueue } from '../../../kernel/serial-queue.ts'
import { settlementGas } from '../limits.ts'
import { type Chain, hexOf } from './chain.ts'
import { findPayment, findSending, type PaymentRow, updatePayment } from './rows.ts'
import type { PaymentProblem, Sender } from './sender.ts'

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
