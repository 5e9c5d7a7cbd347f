import type { Db, Engine } from '../../../kernel/db/engine.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Log } from '../../../kernel/log.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { type Clock, day } from '../../../kernel/time.ts'
import { grant } from '../../ledger/ledger.ts'
import { readChain } from '../json-rpc.ts'
import { eventsLagMaxMs, finalBlocks, lookbackBlocks, pollMs, settlementsMax } from '../limits.ts'
import type {
  Block,
  Chain,
  Outcome,
  PaymentProblem,
  Sender,
  SettledOutcome,
  UsdcTransfer,
} from './chain.ts'
import {
  authorizationIdOf,
  authorizationKey,
  fromUnits,
  type SignedAuthorization,
} from './headers.ts'
import * as rows from './rows.ts'
import {
  findPayment,
  insertPayment,
  isTransactionUsed,
  paidSince,
  type PaymentRow,
} from './rows.ts'

/** Runs in the transaction that credits a payment. */
export type CreditObserver = (db: Db, credited: PaymentRow) => Promise<unknown>

/** The account that pays, and the run whose share it pays; null for credits. */
type Payer = Pick<PaymentRow, 'account' | 'run'>

interface SettlementContext {
  db: Engine
  clock: Clock
  log: Log
  onCredit(db: Db, credited: PaymentRow): Promise<unknown>
}

interface SettlementOptions {
  payTo: string
  confirmations: number
  /** Most that all agents may pay on one UTC day. */
  dayMax: NanoUsd
  /** Time for which a request waits for its payment, in milliseconds. */
  waitMs: number
}

/** Brings payments to the chain and credits each of them once. */
export class Settlements {
  private readonly running = new Map<string, Promise<PaymentRow>>()
  private configProblem: Promise<PaymentProblem | undefined> | undefined
  private isClosed = false

  constructor(
    private readonly ctx: SettlementContext,
    private readonly chain: Chain,
    private readonly sender: Sender,
    private readonly options: SettlementOptions,
  ) {}

  /**
   * Settles a payment and credits it to an account, or settles the share of a run. The same payment
   * again returns the same row. Throws `payment_rejected`, `payment_used`, `payment_pending` and
   * `try_again`.
   */
  async settle(signed: SignedAuthorization, payer: Payer): Promise<PaymentRow> {
    const id = authorizationIdOf(this.chain.network.id, signed)
    const found = await rows.findPayment(this.ctx.db.read, id)
    const row = found ?? (await this.claim(signed, payer))
    if (row.account !== payer.account || row.run !== payer.run) throw new ApiError('payment_used')
    const settled = await this.waitFor(row)
    if (settled.credited !== null) return settled
    throw new ApiError('payment_rejected', { why: settled.reason ?? 'it is invalid' })
  }

  /** Returns the problem for which no payment can be settled now. Throws ChainReadError. */
  async findProblem(): Promise<PaymentProblem | undefined> {
    this.configProblem ??= readChain(() => this.chain.configProblem(this.options.payTo))
    const problem = await this.configProblem.catch((error: unknown) => {
      this.configProblem = undefined
      throw error
    })
    if (problem) return problem
    const paid = await rows.paidSince(this.ctx.db.read, startOfDay(this.ctx.clock.now()))
    if (paid >= this.options.dayMax) return { setting: 'X402_DAY_MAX_USD', why: 'It is reached.' }
    return readChain(() => this.sender.findProblem())
  }

  /** Goes on with every payment that may still change: after a start, and once a minute. */
  async resume(): Promise<void> {
    const open = await rows.listOpen(this.ctx.db.read, this.chain.network.id, settlementsMax)
    await Promise.all(
      open.map((row) => this.advance(row).catch((error: unknown) => this.logWaiting(row, error))),
    )
  }

  /** Stops waiting for the chain. The next start goes on. */
  async close(): Promise<void> {
    this.isClosed = true
    await Promise.allSettled(this.running.values())
  }

  private logWaiting({ payer, nonce }: PaymentRow, error: unknown): void {
    const why = error instanceof Error ? error.message.split('\n')[0] : 'unknown'
    this.ctx.log.warn('x402.settlement_waits', { payer, nonce, why })
  }

  /** Returns a payment that is credited or rejected. Throws `payment_pending` after a while. */
  private async waitFor(row: PaymentRow): Promise<PaymentRow> {
    if (isAtRest(row)) return row
    const pending = Bun.sleep(this.options.waitMs).then(() => undefined)
    const settled = await Promise.race([this.advance(row), pending]).catch((error: unknown) => {
      // The money may be on its way: the client must send this payment again, and no other.
      this.logWaiting(row, error)
      return undefined
    })
    if (!settled) throw new ApiError('payment_pending')
    return settled
  }

  private claim(signed: SignedAuthorization, payer: Payer): Promise<PaymentRow> {
    if (this.running.size >= settlementsMax) throw new ApiError('try_again', {})
    const { dayMax } = this.options
    return claimPayment(this.ctx, this.chain, {
      ...payer,
      signed,
      dayMax,
      wallet: this.sender.wallet,
    })
  }

  /** Shares one run of a payment between all that wait for it. */
  private advance(row: PaymentRow): Promise<PaymentRow> {
    const key = authorizationKey(row)
    const run = this.running.get(key) ?? this.run(row).finally(() => this.running.delete(key))
    this.running.set(key, run)
    return run
  }

  private async run(first: PaymentRow): Promise<PaymentRow> {
    let row = first
    let wait = pollMs.first
    for (;;) {
      row = await this.step(row)
      if (isAtRest(row)) return row
      await Bun.sleep(wait)
      if (this.isClosed) throw new Error('The server stops.')
      wait = Math.min(pollMs.max, wait * 2)
    }
  }

  /** Brings a payment one step further. */
  private async step(row: PaymentRow): Promise<PaymentRow> {
    if (row.state === 'received') {
      const sent = await this.sender.send(row)
      if (sent !== row) return sent
    }
    // The block is older than the outcome: a settlement between the two is seen.
    const newest = await this.chain.newestBlock()
    const outcome = await this.chain.outcomeOf(row.signed, row)
    if (outcome.state === 'settled') return this.confirm(row, outcome, newest.number)
    if (outcome.state === 'lost') return this.reject(row, outcome.why)
    if (newest.time >= expiryOf(row)) return this.expire(row, newest)
    if (row.state === 'mined') return this.change(row, { state: 'received', block: null })
    return row.state === 'sent' ? this.sender.resend(row) : row
  }

  /** Rejects an expired payment, unless the chain has used it and only its events are missing. */
  private async expire(row: PaymentRow, newest: Block): Promise<PaymentRow> {
    // The outcome may be that of a server which is behind; this block tells for good.
    const isUsed = await this.chain.isUsed(row.signed, newest.number)
    if (!isUsed) return this.reject(row, 'it expired before it reached the chain')
    if (newest.time < expiryOf(row) + eventsLagMaxMs) return row
    return this.reject(row, 'it was used, and no server has the event')
  }

  private async confirm(
    row: PaymentRow,
    { hash, transfer, block }: SettledOutcome,
    newest: number,
  ): Promise<PaymentRow> {
    const confirmations = newest - block + 1
    const isFinal = confirmations >= finalBlocks
    const change = { state: isFinal ? 'final' : 'mined', hash, block } as const
    if (row.credited !== null || confirmations < this.options.confirmations) {
      return this.change(row, change)
    }
    await this.credit(row, change, transfer)
    return (await rows.findPayment(this.ctx.db.read, row)) ?? row
  }

  /**
   * Credits a confirmed payment, unless another process did: in one transaction. A transfer that
   * already paid for something credits nothing.
   */
  private async credit(
    row: PaymentRow,
    change: { hash: string; block: number },
    { id, log }: UsdcTransfer,
  ): Promise<void> {
    const { clock, db } = this.ctx
    const transfer = { network: row.network, tx: change.hash, id, log }
    await db.tx(async (tx) => {
      const credited = clock.now()
      if (!(await rows.markCredited(tx, row, credited))) return
      await rows.updatePayment(tx, row, row.state, change)
      if (!(await rows.useTransfer(tx, transfer, credited))) return
      if (row.run === null) await this.grantCredits(tx, row, change.hash)
      await this.ctx.onCredit(tx, { ...row, ...change, credited })
    })
  }

  private async grantCredits(db: Db, row: PaymentRow, item: string): Promise<void> {
    const { account, amount } = row
    const ref = `x402:${authorizationKey(row)}`
    await grant(this.ctx, db, { account, amount, ref, kind: 'topup', item, free: false })
  }

  private reject(row: PaymentRow, reason: string): Promise<PaymentRow> {
    const { payer, nonce } = row
    if (row.credited !== null) {
      const lost = new Error(`A reorganization took back a credited payment: ${reason}.`)
      this.ctx.log.error('x402.payment_lost', lost, { payer, nonce, amount: String(row.amount) })
    }
    return this.change(row, { state: 'rejected', reason })
  }

  /** Changes a payment, or returns it as another process has changed it. */
  private async change(row: PaymentRow, change: Partial<PaymentRow>): Promise<PaymentRow> {
    const { db } = this.ctx
    const isChanged = await db.tx((tx) => rows.updatePayment(tx, row, row.state, change))
    return isChanged ? { ...row, ...change } : ((await rows.findPayment(db.read, row)) ?? row)
  }
}

const expiryOf = ({ signed }: PaymentRow): number =>
  Number(signed.authorization.validBefore) * 1_000

/** Returns whether nothing has to happen to a payment now. */
const isAtRest = ({ state, credited }: PaymentRow): boolean =>
  state === 'rejected' || state === 'final' || (state === 'mined' && credited !== null)

interface ClaimContext {
  db: Engine
  clock: Clock
}

interface Claim {
  signed: SignedAuthorization
  /** The account that is credited. */
  account: PaymentRow['account']
  /** The run whose share is paid; null for credits. */
  run: string | null
  /** The own gas wallet; null with a facilitator. */
  wallet: string | null
  /** Most that all agents may pay on one UTC day. */
  dayMax: NanoUsd
}

/**
 * Verifies a new payment on the chain, and stores it for its account. The first account that sends
 * an authorization has it. Throws `payment_rejected`, `payments_off` and ChainReadError.
 */
async function claimPayment(
  { clock, db }: ClaimContext,
  chain: Chain,
  claim: Claim,
): Promise<PaymentRow> {
  const { signed, account, run, dayMax } = claim
  const { fromBlock, outcome, problem } = await readChain(() => readAuthorization(chain, signed))
  const row: PaymentRow = {
    ...authorizationIdOf(chain.network.id, signed),
    account,
    run,
    amount: fromUnits(BigInt(signed.authorization.value)),
    state: 'received',
    signed,
    wallet: null,
    walletNonce: null,
    raw: null,
    hash: null,
    fromBlock,
    block: null,
    reason: null,
    created: clock.now(),
    credited: null,
  }
  const why = outcome ? await problemOfUsed(db, row, claim, outcome) : problem
  if (why !== undefined) throw new ApiError('payment_rejected', { why })
  await db.tx(async (tx) => {
    const paid = await paidSince(tx, startOfDay(row.created))
    if (paid + row.amount > dayMax) {
      throw new ApiError('payments_off', { setting: 'X402_DAY_MAX_USD', isSet: true })
    }
    await insertPayment(tx, row)
  })
  return (await findPayment(db.read, row)) ?? row
}

/** Reads what the chain says of an authorization: its outcome once used, else its problem. */
async function readAuthorization(
  chain: Chain,
  signed: SignedAuthorization,
): Promise<{ fromBlock: number; outcome?: Outcome; problem?: string | undefined }> {
  const { number } = await chain.newestBlock()
  const fromBlock = number - lookbackBlocks
  return (await chain.isUsed(signed))
    ? { fromBlock, outcome: await chain.outcomeOf(signed, { hash: null, fromBlock }) }
    : { fromBlock, problem: await chain.verify(signed) }
}

/**
 * Accepts an authorization that is already on the chain only where another wallet than ours sent
 * it. Ours sends no payment that is not stored, so the payment was credited in a database that is
 * gone. What a facilitator sent cannot be told apart.
 */
async function problemOfUsed(
  { read }: Engine,
  { network }: PaymentRow,
  { wallet }: Claim,
  outcome: Outcome,
): Promise<string | undefined> {
  const isForeign = outcome.state === 'settled' && wallet !== null && outcome.sender !== wallet
  const used = 'its authorization was used before'
  if (!isForeign) return used
  return (await isTransactionUsed(read, { network, tx: outcome.hash })) ? used : undefined
}

/** Returns the start of a UTC day. */
const startOfDay = (ms: number): number => ms - (ms % day)
