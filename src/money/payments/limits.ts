import { minute, second } from '../../kernel/time.ts'

/** Time limit of one call of a JSON-RPC server of an EVM chain. */
export const rpcCallMs = 5 * second
/** Time that a failed JSON-RPC server is asked last. */
export const rpcRestMs = 30 * second
/** Longest time for which a start waits for the servers of the chains. */
export const networkWaitMs = 2 * second
/** Time limit of a request for rates, and of a request to an Esplora or bitcoind server. */
export const chainCallMs = 10 * second
/** Bytes of a response of a chain's server. */
export const chainBytesMax = 8 * 1_048_576
/** Characters of a payment header. */
export const paymentHeaderCharsMax = 16_384
/** Seconds in which an offered payment must reach the chain. */
export const offerTimeoutSeconds = 300
/** Shortest rest of a payment's validity that can still be settled, in milliseconds. */
export const validityMinMs = 6 * second
/** Longest validity of a payment, so that each one has a known end. */
export const validityMaxMs = 60 * minute
/** Blocks in which a settlement is looked for before the payment arrived: an hour of Base. */
export const lookbackBlocks = 1_800
/** Blocks after which a settlement is not checked for a reorganization any more. */
export const finalBlocks = 64
/** Time after its expiry for which the events of a used authorization are looked for. */
export const eventsLagMaxMs = 60 * minute
/** Payments that one process settles at a time. */
export const settlementsMax = 100
/** Time for which the state of the chain and the gas wallet is remembered. */
export const readinessMs = 15 * second
/** Time between two looks at a payment that is on its way: at first, and at most. */
export const pollMs = { first: 100, max: second }
/** Gas that the wallet must be able to pay before an offer. USDC on Base takes about 90,000. */
export const settlementGas = 250_000n
