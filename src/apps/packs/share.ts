import { ApiError } from '../../kernel/errors.ts'
import type { AppContext } from '../../server/context.ts'
import type { Share } from '../folders/folder.ts'

const percentDecimals = 4

/**
 * Returns a share as it is stored: the chain in CAIP-2, the token and the payee as addresses.
 * Agents pay it in the USDC of this server's chain. Throws `bad_request` and `payments_off`.
 */
export async function checkShare({ x402 }: AppContext, share: Share): Promise<Share> {
  if (!x402) {
    throw new ApiError('payments_off', { setting: 'X402_PAY_TO', advice: 'Leave out "share".' })
  }
  const { id, name, asset } = x402.network
  const isOther = !['usdc', asset.toLowerCase()].includes(share.asset.toLowerCase())
  if ((share.network !== id && share.network !== name) || isOther) {
    throw badShare(`must be in USDC on ${id}: "network": "${id}", "asset": "${asset}"`)
  }
  if (Number(share.percent.toFixed(percentDecimals)) !== share.percent) {
    throw badShare(`has a "percent" of at most ${percentDecimals} decimals`)
  }
  // The check of addresses is loaded with the first share.
  const { isAddress, zeroAddress } = await import('viem')
  if (!isAddress(share.payTo) || share.payTo === zeroAddress) {
    throw badShare('needs the address of a wallet as "payTo", with its letters as copied')
  }
  return { ...share, network: id, asset }
}

const badShare = (problem: string): ApiError<'bad_request'> =>
  new ApiError('bad_request', { problem: `"share" ${problem}.`, param: 'share' })
