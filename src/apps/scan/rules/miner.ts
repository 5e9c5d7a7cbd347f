import { pattern } from '../../../kernel/text.ts'
import type { Hit } from '../findings.ts'
import type { Page, Script } from '../page.ts'
import { CHUNK, TEXT } from '../tokens.ts'

const signature = pattern(
  'i',
  String.raw`coin-?hive(?:\.com|\.min\.js|\.js)|authedmine|crypto-?loot\.(?:com|pro)|`,
  String.raw`cryptaloot|coinimp\.(?:com|net)|hostingcloud\.racing|webminepool|jsecoin\.com|`,
  String.raw`minero\.cc|moneroocean\.stream|supportxmr\.com|minexmr\.com|hashvault\.pro|`,
  String.raw`nanopool\.org|monerominer\.rocks|coin-have\.com|deepminer(?:\.min)?\.js|`,
  String.raw`stratum\+(?:tcp|ssl):|xmrpool\.|webmine\.cz|webxmr|cryptonight|\bcn/(?:r|lite|`,
  String.raw`half)\b|\brx/0\b`,
)

const minerNames = [
  'CoinHive',
  'CoinImp',
  'CryptoLoot',
  'CRLT',
  'deepMiner',
  'DeepMiner',
  'JSEcoin',
  'Minero',
  'WMP',
]

/** Names, files and endpoints of known miners in URLs and code, but not in prose. */
export function* miners(page: Page): Generator<Hit> {
  for (const { url, at } of [...page.addresses, ...page.requests])
    if (isAddress(url) && signature.test(url.slice(0, 500))) yield { code: 'miner.signature', at }
  for (const { value, at } of page.literals)
    if (isAddress(value) && signature.test(value.slice(0, 500)))
      yield { code: 'miner.signature', at }
  for (const script of page.scripts) {
    yield* named(script)
    if (signature.test(script.tokens.code)) yield* quoted(script)
  }
}

/** Returns whether a text is a URL or a setting: one word, not prose. */
function isAddress(text: string): boolean {
  return !/\s/.test(text.slice(0, 500))
}

function* named({ tokens, place }: Script): Generator<Hit> {
  for (const name of minerNames)
    for (const index of tokens.find(name)) {
      const made = tokens.texts[index - 1] === 'new' || tokens.texts[index + 1] === '.'
      if (!made || (name === 'WMP' && tokens.texts[index + 2] !== 'Miner')) continue
      yield { code: 'miner.signature', at: place(index) }
    }
}

function* quoted({ tokens, place }: Script): Generator<Hit> {
  for (const [index, kind] of tokens.kinds.entries()) {
    const text = kind === TEXT || kind === CHUNK ? (tokens.texts[index] ?? '') : ''
    if (text && text.length < 500 && isAddress(text) && signature.test(text))
      yield { code: 'miner.signature', at: place(index) }
  }
}
