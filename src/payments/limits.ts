import { minute, second } from '../core/time.ts'

/** Time limit of one call of a JSON-RPC server. */
export const rpcCallMs = 5 * second
/** Time that a failed JSON-RPC server is asked last. */
export const rpcRestMs = 30 * second
/** Time after which a server of the wrong chain is checked again. */
export const rpcWrongChainRestMs = 10 * minute
/** Bytes of a JSON-RPC response. */
export const rpcBytesMax = 8 * 1_048_576
