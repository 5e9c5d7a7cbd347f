import type { Config } from '../../../kernel/config/settings.ts'
import { lookUp } from '../../../kernel/schema.ts'

/** The chain of the payments and its USDC, which has six decimals. */
export interface PaymentNetwork {
  /** CAIP-2, which version 2 of x402 uses. */
  id: `eip155:${number}`
  chainId: number
  /** The name in version 1 of x402; undefined for a chain without one. */
  name: string | undefined
  asset: string
  /** The EIP-712 domain of the asset. */
  domain: { name: string; version: string }
  rpcUrls: readonly string[]
}

/** Circle's USDC on Base Sepolia. */
export const usdcOfBaseSepolia = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

const known: Record<string, PaymentNetwork> = {
  base: {
    id: 'eip155:8453',
    chainId: 8453,
    name: 'base',
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    domain: { name: 'USD Coin', version: '2' },
    rpcUrls: ['https://mainnet.base.org'],
  },
  'base-sepolia': {
    id: 'eip155:84532',
    chainId: 84532,
    name: 'base-sepolia',
    asset: usdcOfBaseSepolia,
    domain: { name: 'USDC', version: '2' },
    rpcUrls: ['https://sepolia.base.org'],
  },
}

/** Returns the chain that the settings choose. */
export function networkOf(config: Config): PaymentNetwork {
  const { x402Network, x402RpcUrls, x402Asset, x402AssetName, x402AssetVersion } = config
  const found = lookUp(known, x402Network)
  if (found) return { ...found, ...(x402RpcUrls.length > 0 && { rpcUrls: x402RpcUrls }) }
  const chainId = Number(x402Network.slice('eip155:'.length))
  return {
    id: `eip155:${chainId}`,
    chainId,
    name: Object.values(known).find((one) => one.chainId === chainId)?.name,
    asset: x402Asset,
    domain: { name: x402AssetName, version: x402AssetVersion },
    rpcUrls: x402RpcUrls,
  }
}
