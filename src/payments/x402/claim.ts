import type { NanoUsd } from '../../core/money.ts'
import { type Clock, day } from '../../core/time.ts'
import type { Engine } from '../../db/engine.ts'
import { ApiError } from '../../errors.ts'
import { readChain } from '../evm/rpc.ts'
import { lookbackBlocks } from '../limits.ts'
import type { Chain, Outcome } from './chain.ts'
import { fromUnits } from './offer.ts'
import { authorizationIdOf, type SignedAuthorization } from './payload.ts'
import {
  findPayment,
  insertPayment,
  isTransactionUsed,
  paidSince,
  type PaymentRow,
} from './rows.ts'

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
export async function claimPayment(
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
export const startOfDay = (ms: number): number => ms - (ms % day)
