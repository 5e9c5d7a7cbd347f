import {
  editable,
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

const xpub = (description: string) =>
  text(description, {
    pattern: '^([xztv]pub[1-9A-HJ-NP-Za-km-z]{107})?$',
    expected: 'an extended public key, which begins with xpub, zpub, tpub or vpub',
  })

/** Top-ups of gateway balances by coin (docs/spec/payments.md, "Top-ups by coin"). */
export const coins = {
  TOPUP_EVM_XPUB: xpub(
    'Extended public key (xpub) of the account that receives ETH and USDT. Each invoice gets an address below it.',
  ),
  TOPUP_EVM_CHAIN: integer(
    1,
    999_999_999_999,
    1,
    'Chain id of ETH and USDT: 1 is Ethereum, 11155111 Sepolia (test money).',
  ),
  TOPUP_EVM_RPC_URLS: urlList('JSON-RPC servers of the chain, asked in this order.'),
  TOPUP_EVM_CONFIRMATIONS: integer(1, 1_000, 12, 'Blocks that confirm a payment of ETH or USDT.'),
  TOPUP_USDT_TOKEN: evmAddress('Contract of USDT on the chain. Empty: the one of Ethereum.'),
  TOPUP_BTC_XPUB: xpub(
    'Extended public key of a BIP84 account that receives BTC: zpub or xpub, of test networks vpub or tpub.',
  ),
  TOPUP_BTC_NETWORK: text('Network of BTC: mainnet, testnet, signet or regtest.', {
    default: 'mainnet',
    pattern: '^(mainnet|testnet|signet|regtest)$',
    expected: 'mainnet, testnet, signet or regtest',
  }),
  TOPUP_BTC_ESPLORA_URLS: urlList(
    'Esplora servers, asked in this order. Empty: public ones, where the network has some.',
  ),
  TOPUP_BTC_RPC_URL: secret(
    'JSON-RPC address of an own bitcoind with a wallet without private keys, in place of Esplora: http://user:password@host:8332/wallet/name.',
  ),
  TOPUP_BTC_CONFIRMATIONS: integer(1, 100, 2, 'Blocks that confirm a payment of BTC.'),
  TOPUP_SOL_RECIPIENT: text('Address that receives SOL. The server never needs its key.', {
    pattern: '^([1-9A-HJ-NP-Za-km-z]{32,44})?$',
    expected: 'an address of Solana',
  }),
  TOPUP_SOL_NETWORK: text('Network of SOL: mainnet-beta, testnet, devnet or localnet.', {
    default: 'mainnet-beta',
    pattern: '^(mainnet-beta|testnet|devnet|localnet)$',
    expected: 'mainnet-beta, testnet, devnet or localnet',
  }),
  TOPUP_SOL_RPC_URLS: urlList('JSON-RPC servers of Solana, asked in this order.'),
  TOPUP_RATES: text(
    'Sources of the rates of BTC, ETH and SOL: kraken and coingecko, or fixed rates in USD such as BTC=60000,ETH=3000,SOL=150.',
    {
      default: 'kraken,coingecko',
      pattern:
        '^((kraken|coingecko)(,(kraken|coingecko))?|(BTC|ETH|SOL)=\\d{1,9}(\\.\\d{1,9})?(,(BTC|ETH|SOL)=\\d{1,9}(\\.\\d{1,9})?){0,2})$',
      expected: 'kraken,coingecko or fixed rates such as BTC=60000,ETH=3000',
    },
  ),
  TOPUP_KRAKEN_URL: url('Address of Kraken’s API, where a proxy serves it. Empty: its own.'),
  TOPUP_COINGECKO_URL: url('Address of CoinGecko’s API, where a proxy serves it. Empty: its own.'),
  ...editable({
    TOPUP_MIN_USD: usdAmount('1', 'Smallest top-up in USD.'),
    TOPUP_MAX_USD: usdAmount('10000', 'Largest top-up in USD.'),
  }),
}

/** Checks the settings of coin top-ups together. */
export function checkCoins(values: Record<string, unknown>, problems: string[]): void {
  const of = (name: string): string => String(values[name] ?? '')
  const [evm, btc] = [of('topupEvmXpub'), of('topupBtcXpub')]
  if (evm !== '' && !evm.startsWith('xpub')) {
    problems.push('TOPUP_EVM_XPUB is of another network: it must begin with xpub.')
  }
  const prefixes = of('topupBtcNetwork') === 'mainnet' ? ['xpub', 'zpub'] : ['tpub', 'vpub']
  if (btc !== '' && !prefixes.some((prefix) => btc.startsWith(prefix))) {
    problems.push(
      `TOPUP_BTC_XPUB is of another network than TOPUP_BTC_NETWORK (${of('topupBtcNetwork')}): it must begin with ${prefixes.join(' or ')}.`,
    )
  }
  for (const [name, value, urls] of [
    ['EVM', evm, of('topupEvmRpcUrls')],
    ['SOL', of('topupSolRecipient'), of('topupSolRpcUrls')],
  ]) {
    if (value !== '' && urls === '') {
      problems.push(`TOPUP_${name}_RPC_URLS is missing: it has the servers of the chain.`)
    }
  }
  const isRegtest = of('topupBtcNetwork') === 'regtest'
  if (btc !== '' && isRegtest && of('topupBtcEsploraUrls') + of('topupBtcRpcUrl') === '') {
    problems.push(
      'TOPUP_BTC_ESPLORA_URLS or TOPUP_BTC_RPC_URL is missing: regtest has no public server.',
    )
  }
}
