import { plain } from '../../../kernel/forbidden-text.ts'
import { pattern } from '../../../kernel/text.ts'
import type { Hit } from '../findings.ts'
import { type Field, isRemote, type Page } from '../page.ts'

interface CredentialField {
  field: Field
  kind: Credential
}

const fieldsMax = 2_000
const signIn = pattern(
  '',
  String.raw`\b(?:sign|log)[\s-]?(?:in|on)\b|\blogin\b|\b(?:verify|confirm|update|unlock|`,
  String.raw`restore|validate|secure|reactivate) (?:your |my |the )?(?:account|identity|`,
  String.raw`information|billing|payment|details|card|email|password|device)|`,
  String.raw`account (?:has been |is |was )?(?:suspended|locked|limited|restricted|on hold)|`,
  String.raw`session (?:has )?expired|unusual (?:sign|activity|login)|`,
  String.raw`enter (?:your )?password|password (?:has )?expire|iniciar sesi[oó]n|acceder a|`,
  String.raw`se connecter|connexion|connectez|anmeld|einloggen|accedi|entrar|inloggen|`,
  String.raw`zaloguj|войти|вход|giriş yap|登录|登錄|ログイン|로그인|تسجيل الدخول|logga in|log ind`,
)

/** Phishing: forms that send credentials away, sign-ins of brands, and wallet phrases. */
export function* phishing(page: Page): Generator<Hit> {
  const requested = page.fields.slice(0, fieldsMax).flatMap((field): CredentialField[] => {
    const kind = credentialOf(field)
    return kind ? [{ field, kind }] : []
  })
  if (requested.length === 0) return
  const credentials = requested.filter(({ kind }) => kind !== 'token')
  const signsIn = signIn.test(page.words)
  yield* sentForms(page, credentials)
  yield* sentByScript(page, requested, credentials, signsIn)
  const login = credentials.find(({ kind }) => kind !== 'seed')
  if (login && signsIn && showsBrand(page)) yield { code: 'phish.brand_login', at: login.field.at }
  const seed = credentials.find(({ kind }) => kind === 'seed')
  if (seed && requestsWalletSecret(page, credentials.length))
    yield { code: 'phish.wallet_seed', at: seed.field.at }
}

/** Finds the first field for a password, a card, a one-time code or a recovery phrase. */
export function findCredentialField(page: Page): Hit | undefined {
  const field = page.fields.slice(0, fieldsMax).find((one) => {
    const kind = credentialOf(one)
    return kind !== undefined && kind !== 'token'
  })
  return field && { code: 'share.credentials', at: field.at }
}

/** Returns whether a form action leaves the page: another host, email, or a server script. */
function leaves(action: string): boolean {
  const url = action.slice(0, 2000)
  return isRemote(url) || /^\s*mailto:/i.test(url) || isServerScript(url)
}

function isServerScript(url: string): boolean {
  return /^[^\s?#]{1,300}\.(?:php\d?|aspx?|ashx|jsp|jspx|cgi|pl|cfm)(?:[?#]|$)/i.test(url.trim())
}

function* sentForms(page: Page, credentials: CredentialField[]): Generator<Hit> {
  const holding = new Set(credentials.map(({ field }) => field.form))
  for (const [index, form] of page.forms.entries()) {
    const button = form.button && credentials.length > 0
    if ((holding.has(index) || button) && leaves(form.action))
      yield { code: 'phish.credential_form', at: form.at }
  }
}

const dropBoxes = pattern(
  'i',
  String.raw`api\.telegram\.org/bot|discord(?:app)?\.com/api/webhooks|hooks\.slack\.com|`,
  String.raw`webhook\.site|requestbin|pipedream\.net|formspree\.io|formsubmit\.co|`,
  String.raw`getform\.io|formcarry\.com|usebasin\.com|web3forms\.com|submit-form\.com|`,
  String.raw`emailjs\.com|smtpjs\.com|script\.google\.com/macros|\.ngrok|beeceptor\.com|`,
  String.raw`hookbin\.com|\.workers\.dev|interactsh|oast\.`,
)
const sends = new Set([
  'fetch',
  'sendBeacon',
  'open',
  'post',
  'ajax',
  'url',
  'WebSocket',
  'put',
  'request',
  'axios',
  'src',
])
/** Signing in at an API: the sandbox stops the request, and no form pretends to be another site. */
const publicApi = /^https:\/\/(?:api\.[\w.-]+|[\w.-]+\/(?:api|v\d)\b)(?!.*\.php)/i
const mailers = ['emailjs', 'Email']

function* sentByScript(
  page: Page,
  requested: CredentialField[],
  credentials: CredentialField[],
  signsIn: boolean,
): Generator<Hit> {
  for (const { use, url, at } of page.requests) {
    const box = requested.length > 0 && dropBoxes.test(url.slice(0, 300))
    const made = use === 'action' && leaves(url)
    const sent =
      signsIn &&
      sends.has(use) &&
      !publicApi.test(url.slice(0, 200)) &&
      (leaves(url) || /\.php\b/.test(url.slice(0, 200)))
    if (box || (credentials.length > 0 && (made || sent)))
      yield { code: 'phish.credential_form', at }
  }
  if (credentials.length === 0) return
  for (const script of page.scripts)
    for (const name of mailers)
      for (const index of script.tokens.find(name)) {
        const { texts } = script.tokens
        if (texts[index + 1] === '.' && /^send/.test(texts[index + 2] ?? ''))
          yield { code: 'phish.credential_form', at: script.place(index) }
      }
}

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
function requestsWalletSecret(page: Page, fields: number): boolean {
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
function showsBrand(page: Page): boolean {
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

type Credential = 'password' | 'card' | 'code' | 'seed' | 'token'

const token = pattern(
  '',
  String.raw`\b(?:api|access|auth|bearer|bot|personal access|service|webhook|bring your own|`,
  String.raw`your own)[\s_-]{0,2}(?:key|token|secret)s?\b|api[_-]?key|apitoken|\btoken\b|`,
  String.raw`client[\s_-]secret|\bsk-`,
)
const seed = pattern(
  '',
  String.raw`(?:seed|recovery|secret|backup|mnemonic|`,
  String.raw`wallet)[\s_-]{0,2}(?:recovery[\s_-])?(?:phrase|words?)\b|mnemonic|seedphrase|`,
  String.raw`(?:private|secret)[\s_-]?key|\b(?:12|24|twelve|`,
  String.raw`twenty[- ]four)[\s-]{1,2}(?:secret |recovery |seed )?words?\b|keystore[\s_-]json`,
)
const card = pattern(
  '',
  String.raw`\bcc-(?:number|csc|exp)|card[\s_-]?(?:number|num|no)\b|\bcc[\s_-]?num|(?:credit|`,
  String.raw`debit)[\s_-]?card|\bcvv2?\b|\bcvc2?\b|\bexpir(?:y|ation)[\s_-]?date|\biban\b|`,
  String.raw`routing[\s_-]?number|social[\s_-]?security|\bssn\b`,
)
const code = pattern(
  '',
  String.raw`one-time-code|\botp\b|one[\s-]time (?:code|pass)|verification[\s_-]?code|`,
  String.raw`security[\s_-]?code|\bsms[\s_-]?code|\b2fa\b|authenticat(?:or|ion)[\s_-]code|`,
  String.raw`\b6[- ]digit`,
)
const password = pattern(
  '',
  String.raw`pass[\s_-]?word|passwd|passcode|\bpwd\b|\bpass\b|contraseñ|mot de passe|\bmdp\b|`,
  String.raw`passwort|kennwort|\bsenha\b|wachtwoord|hasło|парол|密码|密碼|パスワード|비밀번호|كلمة المرور|`,
  String.raw`şifre|lösenord`,
)

const nearTail = 60

/** Returns the kind of credential of a field, by its attributes and nearby words, or undefined. */
export function credentialOf(field: Field): Credential | undefined {
  const near = field.near.slice(-nearTail)
  const words = `${field.own} ${near} ${field.after}`
  if (seed.test(field.own) || seed.test(field.near)) return 'seed'
  if (token.test(words)) return 'token'
  if (field.type === 'password') return 'password'
  if (card.test(words)) return 'card'
  if (code.test(words)) return 'code'
  return password.test(field.own) ? 'password' : undefined
}
