import { getAddress, type Hex, parseAbi, parseEventLogs, type TransactionReceipt } from 'viem'

import { sha256 } from '../../../kernel/ids.ts'
import type { SignedAuthorization } from './payload.ts'

export const eventAbi = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** A settlement on the chain. */
export interface SettledOutcome {
  state: 'settled'
  hash: string
  transfer: UsdcTransfer
  sender: string
  block: number
}

/** A transfer of USDC in a transaction. */
export interface UsdcTransfer {
  /** Identity in the transaction (docs/decisions/0094). */
  id: number
  /** Index of its event in the block, which changes with a reorganization. */
  log: number
  from: Hex
  to: Hex
  value: bigint
}

/** Returns the events of USDC in a transaction. */
export const eventsIn = ({ logs }: TransactionReceipt, asset: Hex) =>
  parseEventLogs({ abi: eventAbi, logs }).filter(({ address }) => getAddress(address) === asset)

type UsdcEvents = ReturnType<typeof eventsIn>

/** Returns the transfers among the events of a transaction. */
export function transfersOf(events: UsdcEvents): UsdcTransfer[] {
  const places = new Map<string, number>()
  return events.flatMap((event) => {
    if (event.eventName !== 'Transfer') return []
    const { from, to, value } = event.args
    const content = `${from} ${to} ${value}`
    const place = places.get(content) ?? 0
    places.set(content, place + 1)
    return { id: transferIdOf(`${content} ${place}`), log: event.logIndex, from, to, value }
  })
}

/** Returns 48 bits of a hash, below zero: indexes of logs, which older rows have, are not. */
const transferIdOf = (content: string): number =>
  -1 - Number.parseInt(sha256(content).slice(0, 12), 16)

/**
 * Returns the settlement of an authorization in a transaction. USDC emits the two events one after
 * the other, so that no other transfer of the transaction counts for this authorization.
 */
export function settlementIn(
  receipt: TransactionReceipt,
  asset: Hex,
  { authorization: { from, to, value, nonce } }: SignedAuthorization,
): SettledOutcome | undefined {
  if (receipt.status !== 'success') return undefined
  const events = eventsIn(receipt, asset)
  const [payer, payee] = [getAddress(from), getAddress(to)]
  const used = events.find(
    ({ eventName, args }) =>
      eventName === 'AuthorizationUsed' &&
      args.authorizer === payer &&
      args.nonce === nonce.toLowerCase(),
  )
  const transfer = transfersOf(events).find(
    (one) =>
      one.log === (used?.logIndex ?? Number.NaN) + 1 &&
      one.from === payer &&
      one.to === payee &&
      one.value === BigInt(value),
  )
  if (!transfer) return undefined
  const { transactionHash: hash, from: sender, blockNumber } = receipt
  const block = Number(blockNumber)
  return { state: 'settled', hash, transfer, sender: sender.toLowerCase(), block }
}
