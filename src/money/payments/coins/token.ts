import type { CoinContext } from './coins.ts'
import { coins } from './method.ts'

/** The selector of decimals(). */
const decimalsCall = '0x313ce567'

/**
 * Returns a message when TOPUP_USDT_TOKEN has other decimals than USDT, which would credit wrong
 * amounts. The token of Ethereum is known. Throws where no server responds.
 */
export async function findTokenProblem({ config, coins: state }: CoinContext) {
  const { topupUsdtToken: token } = config
  if (token === '' || state.hasCheckedToken) return undefined
  const call = { to: token, data: decimalsCall }
  const result = String(await state.evm().request('eth_call', [call, 'latest']))
  // An address without a contract returns no bytes.
  const found = result === '0x' ? 'no' : String(BigInt(result))
  const { decimals } = coins.usdt
  state.hasCheckedToken = found === String(decimals)
  if (state.hasCheckedToken) return undefined
  return `TOPUP_USDT_TOKEN ${token} has ${found} decimals instead of ${decimals}. Correct it.`
}
