import { type Page, plain } from '../page.ts'
import { pattern } from '../pattern.ts'

const action = pattern(
  '',
  String.raw`\b(?:import|restore|recover|connect|verify|validate|synchroni[sz]e|sync|unlock|`,
  String.raw`rectify|migrate|claim|link|secure|fix|whitelist|access|login to|`,
  String.raw`log in to)\b[^.\n]{0,30}\bwallets?\b|\bwallets?\b[^.\n]{0,20}\b(?:connect|`,
  String.raw`validation|verification|synchroni[sz]ation|recovery|restore|import|`,
  String.raw`rectification)\b|\bclaim\b[^.\n]{0,30}\b(?:airdrop|reward|token|nft)s?\b`,
)
const brand = pattern(
  '',
  String.raw`\b(?:metamask|trust ?wallet|phantom|ledger|trezor|coinbase|exodus|electrum|`,
  String.raw`myetherwallet|walletconnect|rabby|keplr|solflare|safepal|atomic wallet|`,
  String.raw`blockchain\.com|binance|tronlink|opensea|uniswap|pancakeswap)\b`,
)
const ask = pattern(
  'g',
  String.raw`\b(?:enter|type|paste|input|provide|submit|fill in|write|confirm|insert|`,
  String.raw`put in)\b[^.\n]{0,40}\b(?:your|all|the)\b[^.\n]{0,40}(?:(?:seed|recovery|secret|`,
  String.raw`backup|mnemonic)[\s-](?:recovery )?(?:phrase|words?|key)|(?:12|24|twelve|`,
  String.raw`twenty[- ]four)[\s-](?:[\w-]{1,12} )?words?|private key)`,
)
const denial =
  /\b(?:never|not|don['’]?t|nobody|no one|should|anyone who|asks? you to|scam)\b[^.\n]{0,40}$/
const crypto = pattern(
  '',
  String.raw`\b(?:wallet|bitcoin|btc|ethereum|eth|crypto|blockchain|web3|solana|airdrop|nft|`,
  String.raw`token|defi|seed phrase|recovery phrase)\b`,
)
const lineMax = 90
const manyWords = 11

/**
 * Returns whether a page acts as a wallet and requests its secret: it asks for *your* words, names
 * a wallet in a heading, or offers to import, connect or verify one. Explanations do none of these.
 */
export function requestsWalletSecret(page: Page, fields: number): boolean {
  if (fields >= manyWords && crypto.test(page.words)) return true
  if (asksForYours(page.words)) return crypto.test(page.words)
  return page.runs.some(({ text, role }) => {
    if (text.length > lineMax) return false
    const words = plain(text)
    if (role === 'title' || role === 'heading') return action.test(words) || brand.test(words)
    return action.test(words) && (role === 'control' || order.test(words))
  })
}

function asksForYours(words: string): boolean {
  for (const found of words.matchAll(ask))
    if (!denial.test(words.slice(Math.max(0, found.index - 60), found.index))) return true
  return false
}

const order = pattern(
  '',
  String.raw`^(?:please |now |to )?(?:import|restore|recover|connect|verify|validate|sync|unlock|`,
  String.raw`rectify|migrate|claim|secure)`,
)
