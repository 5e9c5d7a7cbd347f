import type { FacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import {
  createPublicClient,
  custom,
  encodeFunctionData,
  getAddress,
  getContract,
  type Hex,
  isAddress,
  isHex,
  parseAbi,
  parseEventLogs,
  parseSignature,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'

import type { SettingName } from '../../../kernel/config/settings.ts'
import { sha256 } from '../../../kernel/ids.ts'
import type { EvmRpc } from '../json-rpc.ts'
import { ServerError, ServerResponseError } from '../server-pool.ts'
import { requirementsOf, type SignedAuthorization } from './headers.ts'
import type { PaymentNetwork } from './network.ts'
import type { PaymentRow } from './rows.ts'

const eventAbi = parseAbi([
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
function settlementIn(
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

/** The setting that the operator has to check before payments can be settled, and the reason. */
export interface PaymentProblem {
  setting: SettingName
  why: string
}

/** Brings authorizations to the chain: the server's own gas wallet, or a facilitator. */
export interface Sender {
  /** The address of the own gas wallet in lower case; null for a facilitator. */
  readonly wallet: string | null
  /**
   * Sends a payment that was received, and stores it as sent before that. Returns the stored
   * payment; unchanged while it has to wait.
   */
  send(row: PaymentRow): Promise<PaymentRow>
  /** Sends a payment again that was sent and is not on the chain. Returns the stored payment. */
  resend(row: PaymentRow): Promise<PaymentRow>
  /** Returns the problem for which nothing can be sent now. */
  findProblem(): Promise<PaymentProblem | undefined>
}

const abi = [
  ...parseAbi([
    'function balanceOf(address owner) view returns (uint256)',
    'function name() view returns (string)',
    'function version() view returns (string)',
    'function decimals() view returns (uint8)',
    'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
    'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  ]),
  ...eventAbi,
] as const

/** Characters of an ECDSA signature in hexadecimal, with 0x. Smart wallets have longer ones. */
const ecdsaChars = 132

/** Brands hexadecimal text for viem. */
export function hexOf(text: string): Hex {
  if (isHex(text)) return text
  throw new Error('This text is not hexadecimal.')
}

/** The state of an authorization on the chain. `lost`: it can never move this money. */
export type Outcome = { state: 'open' } | { state: 'lost'; why: string } | SettledOutcome

/** A block of the chain. `time` is in milliseconds. */
export interface Block {
  number: number
  time: number
}

/** The client of one chain and its USDC. */
export class Chain {
  readonly client
  readonly asset: Hex
  private readonly usdc
  private failures = 0
  private readonly scheme: ExactEvmScheme

  constructor(
    readonly network: PaymentNetwork,
    rpc: EvmRpc,
  ) {
    const request = ({ method, params }: { method: string; params?: unknown }) =>
      read(rpc, method, Array.isArray(params) ? params : []).catch((error: unknown) => {
        const isOfChain = error instanceof ServerResponseError && error.isFinal
        if (!isOfChain) this.failures += 1
        throw error
      })
    const transport = custom({ request }, { retryCount: 0 })
    this.client = createPublicClient({ transport, cacheTime: 0 })
    this.asset = getAddress(network.asset)
    this.usdc = getContract({ address: this.asset, abi, client: this.client })
    this.scheme = new ExactEvmScheme(verifierOf(this.client))
  }

  /** Returns the newest block. */
  async newestBlock(): Promise<Block> {
    const { number, timestamp } = await this.client.getBlock()
    return { number: Number(number), time: Number(timestamp) * 1_000 }
  }

  /**
   * Verifies the signature and simulates the transfer, with the official code of x402. Returns the
   * reason for which the authorization cannot move its money. Throws when no server responds.
   */
  async verify(signed: SignedAuthorization): Promise<string | undefined> {
    const { from, to, value } = signed.authorization
    const balance = await this.usdc.read.balanceOf([getAddress(from)])
    if (balance < BigInt(value)) return `the wallet has ${balance} units and pays ${value}`
    const requirements = requirementsOf({
      network: this.network,
      payTo: to,
      amount: BigInt(value),
    })
    const before = this.failures
    const payload = { x402Version: 2, accepted: requirements, payload: { ...signed } }
    const { isValid, invalidReason } = await this.scheme.verify(payload, requirements)
    // The official code takes a server that does not respond for an invalid signature.
    if (this.failures > before) throw new ServerError('No server verified the payment.')
    return isValid ? undefined : (invalidReason ?? 'it is invalid')
  }

  /**
   * Returns whether an authorization was used or canceled, by default up to the newest block of the
   * server that responds. Throws for a block that this server does not have yet.
   */
  isUsed(
    { authorization: { from, nonce } }: SignedAuthorization,
    block?: number,
  ): Promise<boolean> {
    const at = block === undefined ? {} : { blockNumber: BigInt(block) }
    return this.usdc.read.authorizationState([getAddress(from), hexOf(nonce)], at)
  }

  /**
   * Returns what became of an authorization. `hash` is its transaction, where known. Otherwise the
   * events since `fromBlock` decide.
   */
  async outcomeOf(
    signed: SignedAuthorization,
    { hash, fromBlock }: { hash: string | null; fromBlock: number },
  ): Promise<Outcome> {
    const known = hash === null ? undefined : await this.receiptOf(hash)
    const own = known && settlementIn(known, this.asset, signed)
    if (own) return own
    if (!(await this.isUsed(signed))) return { state: 'open' }
    const { from, nonce } = signed.authorization
    const authorization = { authorizer: getAddress(from), nonce: hexOf(nonce) }
    const blocks = { fromBlock: BigInt(Math.max(0, fromBlock)), toBlock: 'latest' } as const
    const [log] = await this.usdc.getEvents.AuthorizationUsed(authorization, blocks)
    if (!log) {
      const canceled = await this.usdc.getEvents.AuthorizationCanceled(authorization, blocks)
      // Without an event, this server is behind the one that knows of the use. The money may be
      // there.
      return canceled.length > 0 ? { state: 'lost', why: 'it was canceled' } : { state: 'open' }
    }
    const receipt = await this.receiptOf(log.transactionHash)
    if (!receipt) return { state: 'open' }
    return (
      settlementIn(receipt, this.asset, signed) ?? { state: 'lost', why: 'it paid something else' }
    )
  }

  /** Encodes the transaction that moves the money. */
  transferCall({ authorization, signature }: SignedAuthorization): { to: Hex; data: Hex } {
    const { from, to, value, validAfter, validBefore, nonce } = authorization
    const transfer = [
      getAddress(from),
      getAddress(to),
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      hexOf(nonce),
    ] as const
    const functionName = 'transferWithAuthorization'
    if (signature.length !== ecdsaChars) {
      const args = [...transfer, hexOf(signature)] as const
      return { to: this.asset, data: encodeFunctionData({ abi, functionName, args }) }
    }
    const { r, s, yParity } = parseSignature(hexOf(signature))
    const args = [...transfer, 27 + yParity, r, s] as const
    return { to: this.asset, data: encodeFunctionData({ abi, functionName, args }) }
  }

  /** Returns the setting that does not fit the chain: the payee, or USDC with its domain. */
  async configProblem(payTo: string): Promise<PaymentProblem | undefined> {
    if (!isAddress(payTo)) {
      return { setting: 'X402_PAY_TO', why: `The checksum of ${payTo} is wrong. Copy it again.` }
    }
    const { name, version } = this.network.domain
    const found = await Promise.all([
      this.usdc.read.name(),
      this.usdc.read.version(),
      this.usdc.read.decimals(),
    ])
    if (found.join() === [name, version, 6].join()) return undefined
    const why = `The token ${this.asset} has name, version and decimals ${found.join(', ')} instead of ${name}, ${version}, 6.`
    return { setting: 'X402_ASSET', why }
  }

  /** Returns the receipt of a transaction; undefined for one that is not on the chain. */
  async receiptOf(hash: string): Promise<TransactionReceipt | undefined> {
    try {
      const receipt = await this.client.getTransactionReceipt({ hash: hexOf(hash) })
      // Without a status, a garbled receipt would be that of a failed transaction.
      if (receipt.status === 'success' || receipt.status === 'reverted') return receipt
      throw new ServerError('A server returned a receipt without a status.')
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return undefined
      throw error
    }
  }
}

/** Methods whose results the official code of x402 judges. */
const bytesMethods = ['eth_call', 'eth_getCode']

/** Calls a method. Throws ServerError for garbage, which is no verdict on a payment. */
async function read(rpc: EvmRpc, method: string, params: unknown[]): Promise<unknown> {
  const result = await rpc.request(method, params)
  if (bytesMethods.includes(method) && !isHex(result)) {
    throw new ServerError(`${method} returned no bytes.`)
  }
  return result
}

/** Adapts a client to the official code of x402, which only reads here. */
function verifierOf(client: ReturnType<typeof createPublicClient>): FacilitatorEvmSigner {
  const reject = () => Promise.reject(new Error('Only a settlement calls this.'))
  return {
    getAddresses: () => [],
    readContract: client.readContract,
    verifyTypedData: reject,
    getCode: client.getCode,
    writeContract: reject,
    sendTransaction: reject,
    waitForTransactionReceipt: reject,
  }
}
