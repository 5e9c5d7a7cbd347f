import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Share } from '../folders/folder.ts'

/**
 * Returns the profit share of a framework with the CAIP-2 network and the asset of this server,
 * where it can be checked. Old names of networks are aliases. Throws `payments_off` and
 * `bad_request`.
 */
export function checkShare({ x402 }: AppContext, share: Share): Share {
  if (!x402) {
    const advice = 'Leave out "share". Nothing was stored.'
    throw new ApiError('payments_off', { setting: 'X402_PAY_TO', advice })
  }
  const { id, name, asset } = x402.network
  const isNetwork = share.network === id || share.network === name
  const isAsset = [asset.toLowerCase(), 'usdc'].includes(share.asset.toLowerCase())
  if (!isNetwork || !isAsset) {
    const problem = `"share" must have the network "${id}" and the asset "${asset}".`
    throw new ApiError('bad_request', { problem, param: 'share' })
  }
  return { ...share, network: id, asset }
}
