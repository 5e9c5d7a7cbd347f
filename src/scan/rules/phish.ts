import type { Hit } from '../findings.ts'
import { type Field, isRemote, type Page } from '../page.ts'
import { pattern } from '../pattern.ts'
import { showsBrand } from './brands.ts'
import { type Credential, credentialOf } from './credentials.ts'
import { requestsWalletSecret } from './wallet.ts'

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
