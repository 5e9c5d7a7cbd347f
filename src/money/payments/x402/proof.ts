import { getAddress, type Hex, TransactionNotFoundError, type TransactionReceipt } from 'viem'

import { type Chain, eventsIn, hexOf, transfersOf, type UsdcTransfer } from './chain.ts'

/** Most by which the clocks of a chain and of this machine may differ. */
const clockDifferenceMs = 60_000

/** The transfer of USDC that a transaction has to contain. */
export interface TransferClaim {
  tx: string
  payTo: string
  /** Least amount in units. */
  units: bigint
  /** Earliest time of the block, in milliseconds. */
  since: number
  /** Nonce of ERC-3009 that binds an authorization to its purpose. */
  nonce: string
  /** Text that the payer signs (EIP-191) where the nonce is another. */
  message: string
  signature?: string | undefined
  confirmations: number
}

/** The reason for which a transaction does not prove a claim. */
export type ProofProblem =
  | 'tx_not_found'
  | 'tx_unconfirmed'
  | 'tx_failed'
  | 'tx_wrong_asset'
  | 'tx_wrong_payee'
  | 'tx_too_small'
  | 'tx_too_old'
  | 'tx_not_yours'

/** A transfer that proves a claim. */
export interface ProvenTransfer extends Pick<UsdcTransfer, 'id' | 'log'> {
  payer: string
  units: bigint
}

/**
 * Looks for transfers that prove a claim. Throws when no server responds. The order of the checks
 * tells a payer what to correct first.
 */
export async function proveTransfer(
  chain: Chain,
  claim: TransferClaim,
): Promise<ProofProblem | ProvenTransfer[]> {
  const { client } = chain
  const receipt = await findReceipt(chain, claim.tx)
  if (typeof receipt === 'string') return receipt
  if (receipt.status !== 'success') return 'tx_failed'
  const newest = await client.getBlockNumber()
  if (newest - receipt.blockNumber + 1n < BigInt(claim.confirmations)) return 'tx_unconfirmed'
  const logs = eventsIn(receipt, chain.asset)
  const transfers = transfersOf(logs)
  if (transfers.length === 0) return 'tx_wrong_asset'
  const toPayee = transfers.filter(({ to }) => to === getAddress(claim.payTo))
  if (toPayee.length === 0) return 'tx_wrong_payee'
  const enough = toPayee.filter(({ value }) => value >= claim.units)
  if (enough.length === 0) return 'tx_too_small'
  const { timestamp } = await client.getBlock({ blockHash: receipt.blockHash })
  if (Number(timestamp) * 1_000 < claim.since - clockDifferenceMs) return 'tx_too_old'
  const bound = logs.flatMap((log) =>
    log.eventName === 'AuthorizationUsed' && log.args.nonce === claim.nonce.toLowerCase()
      ? { payer: log.args.authorizer, log: log.logIndex + 1 }
      : [],
  )
  const linked = []
  for (const { from, value, id, log } of enough) {
    const isBound = bound.some((used) => used.payer === from && used.log === log)
    if (isBound || (await hasSigned(chain, from, claim)))
      linked.push({ id, log, payer: from, units: value })
  }
  return linked.length > 0 ? linked : 'tx_not_yours'
}

async function findReceipt(
  chain: Chain,
  tx: string,
): Promise<TransactionReceipt | 'tx_not_found' | 'tx_unconfirmed'> {
  const receipt = await chain.receiptOf(tx)
  if (receipt) return receipt
  try {
    await chain.client.getTransaction({ hash: hexOf(tx) })
    return 'tx_unconfirmed'
  } catch (error) {
    if (error instanceof TransactionNotFoundError) return 'tx_not_found'
    throw error
  }
}

/** Returns whether the payer signed the message: a key, or a wallet contract (EIP-1271). */
async function hasSigned(
  { client }: Chain,
  address: Hex,
  { message, signature }: TransferClaim,
): Promise<boolean> {
  if (signature === undefined) return false
  return client.verifyMessage({ address, message, signature: hexOf(signature) })
}
