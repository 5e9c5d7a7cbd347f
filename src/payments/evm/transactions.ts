import { recordOf } from '../../core/schema.ts'
import type { EvmRpc } from './rpc.ts'

/**
 * Returns whether a transaction succeeded and has enough confirmations; its own block is the first.
 * Throws NoServerError and RpcError.
 */
export async function isConfirmed(
  rpc: EvmRpc,
  tx: string,
  confirmations: number,
): Promise<boolean> {
  const receipt = recordOf(await rpc.request('eth_getTransactionReceipt', [tx]))
  const block = Number(receipt['blockNumber'] ?? Number.NaN)
  if (receipt['status'] !== '0x1' || !Number.isSafeInteger(block)) return false
  const newest = Number(await rpc.request('eth_blockNumber'))
  return newest - block + 1 >= confirmations
}
