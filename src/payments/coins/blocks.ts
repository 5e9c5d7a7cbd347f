import { recordOf } from '../../core/schema.ts'
import { second } from '../../core/time.ts'
import type { EvmRpc } from '../evm/rpc.ts'
import type { StoredInvoice } from './status.ts'

export const toHex = (number: number): string => `0x${number.toString(16)}`

/** Returns invoices by their address in lower case. */
export const byAddress = (invoices: StoredInvoice[]) =>
  new Map(invoices.map((invoice) => [invoice.address.toLowerCase(), invoice]))

/** Blocks from `from` to `to`, both included, of a chain whose newest one is `head`. */
export interface BlockRange {
  from: number
  to: number
  head: number
}

/** Reads the times of blocks, each once. */
export class BlockTimes {
  private readonly times = new Map<number, number>()

  constructor(private readonly rpc: EvmRpc) {}

  /** Returns milliseconds since 1970; undefined where the block is gone. */
  async of(block: number): Promise<number | undefined> {
    const known = this.times.get(block)
    if (known !== undefined) return known
    const found = recordOf(await this.rpc.request('eth_getBlockByNumber', [toHex(block), false]))
    const time = Number(found['timestamp']) * second
    if (!Number.isSafeInteger(time)) return undefined
    this.times.set(block, time)
    return time
  }
}
