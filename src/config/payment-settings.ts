import {
  evmAddress,
  evmNetwork,
  evmPrivateKey,
  integer,
  secret,
  text,
  url,
  urlList,
  usdAmount,
} from './setting-types.ts'

/** Payments of agents in USDC (docs/spec/payments.md, "x402"). */
export const x402 = {
  X402_PAY_TO: evmAddress(
    'Address that receives the payments of agents. Empty: no payments. The server never needs its key.',
  ),
  X402_NETWORK: evmNetwork(
    'base',
    'Chain of the payments: base, base-sepolia (test money), or eip155:<chain id>.',
  ),
  X402_RPC_URLS: urlList(
    'JSON-RPC servers of the chain, asked in this order. Empty: the public one of Base or Base Sepolia.',
  ),
  X402_GAS_KEY: evmPrivateKey(
    'Private key of the wallet that pays the gas of settlements. Keep only small change in it.',
  ),
  FACILITATOR_URL: url('x402 facilitator that settles the payments, in place of X402_GAS_KEY.'),
  FACILITATOR_TOKEN: secret('Token that the facilitator gets as Authorization: Bearer.'),
  X402_CONFIRMATIONS: integer(
    1,
    100,
    1,
    'Blocks that confirm a payment before it is credited, its own included.',
  ),
  X402_WAIT_SECONDS: integer(
    1,
    120,
    20,
    'Seconds that a call waits for its payment. Then it answers payment_pending, and goes on.',
  ),
  X402_PAYMENT_MIN_USD: usdAmount('0.001', 'Smallest payment in USD.'),
  X402_PAYMENT_MAX_USD: usdAmount('100', 'Largest payment in USD.'),
  X402_DAY_MAX_USD: usdAmount('1000', 'Payments of all agents in USD on one UTC day.'),
  X402_ASSET: evmAddress(
    'USDC on another chain than Base or Base Sepolia: a token with ERC-3009 and six decimals.',
  ),
  X402_ASSET_NAME: text('Name of X402_ASSET in its EIP-712 domain.', { default: 'USD Coin' }),
  X402_ASSET_VERSION: text('Version of X402_ASSET in its EIP-712 domain.', { default: '2' }),
}
