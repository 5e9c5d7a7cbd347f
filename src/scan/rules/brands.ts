import { type Page, plain } from '../page.ts'
import { pattern } from '../pattern.ts'

/** Names that can only mean the company. */
const distinct = pattern(
  '',
  String.raw`\b(?:pay ?pal|venmo|zelle|cash ?app|revolut|monzo|klarna|western union|coinbase|`,
  String.raw`binance|kraken exchange|crypto\.com|metamask|meta mask|trust ?wallet|`,
  String.raw`phantom wallet|ledger live|trezor|exodus wallet|opensea|uniswap|blockchain\.com|`,
  String.raw`microsoft|office ?365|microsoft ?365|outlook\.com|outlook web|hotmail|onedrive|`,
  String.raw`sharepoint|google|gmail|youtube|facebook|instagram|whats ?app|linkedin|twitter|`,
  String.raw`tik ?tok|snapchat|netflix|spotify|disney ?\+|hulu|roblox|epic games|`,
  String.raw`playstation network|minecraft account|dropbox|docusign|adobe id|adobe document|`,
  String.raw`wetransfer|icloud|apple ?id|yahoo|aol mail|proton ?mail|wells ?fargo|`,
  String.raw`bank of america|citibank|capital one|american express|hsbc|barclays|lloyds bank|`,
  String.raw`natwest|santander|bnp paribas|crédit agricole|credit agricole|société générale|`,
  String.raw`deutsche bank|sparkasse|commerzbank|ing direct|rabobank|abn amro|unicredit|`,
  String.raw`intesa sanpaolo|bbva|caixabank|bradesco|itaú|nubank|mercado ?(?:libre|pago)|`,
  String.raw`sbi online|hdfc|icici|alibaba|aliexpress|ebay|walmart|rakuten|dhl|fedex|usps|`,
  String.raw`ups my choice|royal mail|correos|la poste|deutsche post|irs\.gov|gov\.uk|hmrc|`,
  String.raw`github|gitlab|slack workspace|zoom meeting|godaddy|cloudflare|aws console|at&t|`,
  String.raw`verizon|t-mobile|vodafone|comcast|xfinity|robinhood|fidelity investments|`,
  String.raw`charles schwab|vanguard|steam ?(?:community|powered|guard)|telegram web|`,
  String.raw`discord nitro)\b`,
)

/** Names that are also ordinary words: they count only beside sign-in words and nothing else. */
const ambiguous = new Set(
  (
    'amazon,apple,chase,steam,discord,outlook,office,citi,visa,mastercard,amex,stripe,square,' +
    'shopify,wise,ups,orange,sky,sprint,telegram,zoom,slack,adobe,twitch,ledger,phantom,exodus,' +
    'kraken,okta,meta,skype,amazon prime,amazon.com,apple inc,windows live,bank of america'
  ).split(','),
)

const signInVocabulary = pattern(
  'g',
  String.raw`\b(?:sign|log|login|signin|logon|in|on|to|into|your|my|the|a|account|accounts|`,
  String.raw`welcome|back|secure|security|official|site|website|online|banking|bank|verify|`,
  String.raw`verification|verified|id|support|help|center|page|home|portal|web|app|web ?app|`,
  String.raw`customer|member|continue|please|with|for|of|logo|inc|com|wallet|connect|unlock|`,
  String.raw`update|confirm|identity|password|reset)\b`,
)

const signInWords = /\b(?:sign|log)[- ]?(?:in|on)\b|\baccount\b|\bverif|\bpassword\b|\bid\b/
const withOther =
  /\b(?:sign|log|continue|connect)(?:[- ]?(?:in|on|up))?\s{1,3}(?:with|using|via)\s{1,3}\w{1,20}/g
const runMax = 160

/** Returns whether a page presents a known brand in its title, a heading, the logo or a line. */
export function showsBrand(page: Page): boolean {
  return page.runs.some(({ text, role }) => {
    if (text.length > runMax) return false
    const words = plain(text).replace(withOther, ' ')
    const rest = remainder(words)
    const alone = role !== 'control' && rest.split(' ').length <= 2
    const shown = role === 'title' || role === 'heading'
    if ((shown || alone || signInTo(words)) && distinct.test(words)) return true
    if (!ambiguous.has(rest)) return false
    return (shown || alone) && (signInWords.test(words) || (!page.canvas && shown))
  })
}

function signInTo(words: string): boolean {
  return /\b(?:sign|log)[- ]?(?:in|on) (?:to|into|at)\b|\byour [\w.& ]{2,30} account\b/.test(words)
}

/** Returns a line without its sign-in words. */
function remainder(words: string): string {
  return words
    .replace(signInVocabulary, ' ')
    .replace(/[^\p{L}\p{N}.&+ ]/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/[. ]+$/, '')
    .trim()
}
