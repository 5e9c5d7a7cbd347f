import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import { embeddedPath } from './public-files.ts'

/**
 * Packages that no start needs, by the names of their imports. The binary embeds each as one
 * compressed script (docs/decisions/0134): in the bundle, their code and its bytecode would take
 * eight times as much. The first import of one parses it, in 1 to 90 ms.
 */
export const lazyPackages: readonly string[] = [
  '@ai-sdk/amazon-bedrock',
  '@ai-sdk/anthropic',
  '@ai-sdk/cohere',
  '@ai-sdk/deepgram',
  '@ai-sdk/elevenlabs',
  '@ai-sdk/fal',
  '@ai-sdk/google',
  '@ai-sdk/replicate',
  '@elysiajs/swagger',
  '@modelcontextprotocol/server',
  '@noble/curves/secp256k1.js',
  '@noble/hashes/sha3.js',
  '@pydantic/genai-prices',
  '@scure/bip32',
  '@scure/btc-signer',
  '@simplewebauthn/server',
  '@x402/core/http',
  '@x402/evm/exact/facilitator',
  'acme-client',
  'age-encryption',
  'diff',
  'intl-messageformat',
  'jsfxr',
  'marked',
  'openid-client',
  'sanitize-html',
  'uqr',
  'viem',
  'viem/accounts',
  'yaml',
]

type Require = (name: string) => unknown
/** The function around each script. */
type Script = (exports: object, require: Require, module: { exports: object }) => void

const exportsOf = new Map<string, Record<string, unknown>>()
const requireOther = createRequire(import.meta.url)

/**
 * Runs the script of a package once, and returns its exports. In the binary, an import of a package
 * leads to a module of scripts/build-package-files.ts, which calls this.
 */
export function loadPackage(name: string): Record<string, unknown> {
  const known = exportsOf.get(name)
  if (known) return known
  const compressed = readFileSync(embeddedPath(`${name}.js`))
  const run: Script = (0, eval)(new TextDecoder().decode(Bun.zstdDecompressSync(compressed)))
  const module = { exports: {} }
  run(module.exports, requireModule, module)
  exportsOf.set(name, module.exports)
  return module.exports
}

const requireModule: Require = (name) =>
  lazyPackages.includes(name) ? loadPackage(name) : requireOther(name)
