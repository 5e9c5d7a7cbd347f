import type { Config } from '../../../kernel/config/settings.ts'
import { randomBytes } from '../../../kernel/ids.ts'
import { lookUp } from '../../../kernel/schema.ts'
import { type Coin, formatUnits, usdtToken } from './method.ts'

/** Version bytes of extended keys (BIP32, SLIP-132): xpub, zpub, tpub, vpub. */
const keyVersions: Record<string, { private: number; public: number }> = {
  xpub: { private: 0x0488ade4, public: 0x0488b21e },
  zpub: { private: 0x04b2430c, public: 0x04b24746 },
  tpub: { private: 0x04358394, public: 0x043587cf },
  vpub: { private: 0x045f18bc, public: 0x045f1cf6 },
}

const prefixes: Record<string, string> = { mainnet: 'bc', regtest: 'bcrt' }

/** Derives the receiving keys of a wallet: `0/path` below the key of its account (BIP44). */
async function publicKeyAt(xpub: string, path: number): Promise<Uint8Array> {
  const { HDKey } = await import('@scure/bip32')
  const account = HDKey.fromExtendedKey(xpub, lookUp(keyVersions, xpub.slice(0, 4)))
  const { publicKey } = account.deriveChild(0).deriveChild(path)
  if (!publicKey) throw new Error('The extended key has no public key.')
  return publicKey
}

/** Throws where the text of an extended public key is damaged or of a private key. */
export async function checkXpub(setting: string, xpub: string): Promise<void> {
  await publicKeyAt(xpub, 0).catch(() => {
    throw new Error(`${setting} is not a valid extended public key. Copy it again.`)
  })
}

/** Returns the address of an invoice for ETH and USDT, with the checksum of EIP-55. */
export async function evmAddressAt(xpub: string, path: number): Promise<string> {
  const [{ secp256k1 }, { keccak_256 }] = await Promise.all([
    import('@noble/curves/secp256k1.js'),
    import('@noble/hashes/sha3.js'),
  ])
  const point = secp256k1.Point.fromBytes(await publicKeyAt(xpub, path)).toBytes(false)
  const hex = Buffer.from(keccak_256(point.subarray(1)).subarray(12)).toString('hex')
  const sum = Buffer.from(keccak_256(new TextEncoder().encode(hex))).toString('hex')
  const digits = [...hex].map((digit, at) =>
    Number.parseInt(sum[at] ?? '0', 16) > 7 ? digit.toUpperCase() : digit,
  )
  return `0x${digits.join('')}`
}

/** Returns the BIP84 address of an invoice. */
export async function btcAddressAt(config: Config, path: number): Promise<string> {
  const { p2wpkh } = await import('@scure/btc-signer')
  const key = await publicKeyAt(config.topupBtcXpub, path)
  const { address } = p2wpkh(key, btcNetwork(config))
  if (address === undefined) throw new Error('The key has no address.')
  return address
}

/** Returns the script of a Bitcoin address, in hexadecimal. */
export async function scriptOf(config: Config, address: string): Promise<string> {
  const { Address, OutScript } = await import('@scure/btc-signer')
  return Buffer.from(OutScript.encode(Address(btcNetwork(config)).decode(address))).toString('hex')
}

const btcNetwork = ({ topupBtcNetwork: network }: Config) => ({
  bech32: lookUp(prefixes, network) ?? 'tb',
  pubKeyHash: network === 'mainnet' ? 0 : 0x6f,
  scriptHash: network === 'mainnet' ? 5 : 0xc4,
  wif: network === 'mainnet' ? 0x80 : 0xef,
})

/** Throws where the text is no address of Solana. */
export async function checkSolAddress(setting: string, address: string): Promise<void> {
  const { base58 } = await import('@scure/base')
  if (base58.decode(address).length !== 32) throw new Error(`${setting} is no address of Solana.`)
}

/** Returns a reference of Solana Pay: the form of an account, which identifies a payment. */
export async function newSolReference(): Promise<string> {
  const { base58 } = await import('@scure/base')
  return base58.encode(randomBytes(32))
}

interface Payable {
  address: string
  reference: string | null
  due: bigint
}

/** Returns the URI of a payment: BIP21, EIP-681 or Solana Pay. */
export function paymentUri(config: Config, coin: Coin, { address, reference, due }: Payable) {
  const amount = formatUnits(due, coin.decimals)
  const chain = config.topupEvmChain
  switch (coin.method) {
    case 'btc':
      return `bitcoin:${address}?amount=${amount}`
    case 'eth':
      return `ethereum:${address}@${chain}?value=${due}`
    case 'usdt':
      return `ethereum:${usdtToken(config)}@${chain}/transfer?address=${address}&uint256=${due}`
    case 'sol':
      return `solana:${address}?amount=${amount}&reference=${reference}`
  }
}
