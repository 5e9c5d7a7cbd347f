import { pattern } from '../../kernel/text.ts'
/** Patterns of live API keys with their names. Every pattern starts with fixed text. */
const patterns: readonly [name: string, shape: string][] = [
  ['Anthropic key', 'sk-ant-[a-z0-9]{2,8}-[\\w-]{40,120}'],
  ['OpenAI key', 'sk-(?:proj|svcacct|admin)-[\\w-]{40,200}'],
  ['OpenAI key', 'sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}'],
  ['OpenRouter key', 'sk-or-v1-[0-9a-f]{64}'],
  ['model provider key', 'sk-[a-z0-9]{32,64}'],
  ['AWS access key', '(?:AKIA|ASIA)[0-9A-Z]{16}'],
  ['GitHub token', 'gh[pousr]_[A-Za-z0-9]{36,80}'],
  ['GitHub token', 'github_pat_[A-Za-z0-9_]{60,100}'],
  ['GitLab token', 'glpat-[\\w-]{20,60}'],
  ['Slack token', 'xox[abprs]-[A-Za-z0-9-]{20,160}'],
  ['Stripe live key', '(?:sk|rk)_live_[A-Za-z0-9]{20,120}'],
  ['Google API key', 'AIza[\\w-]{35}'],
  ['Google client secret', 'GOCSPX-[\\w-]{28}'],
  ['SendGrid key', 'SG\\.[\\w-]{20,24}\\.[\\w-]{40,46}'],
  ['Hugging Face token', 'hf_[A-Za-z0-9]{34}'],
  ['Replicate token', 'r8_[A-Za-z0-9]{37}'],
  ['Groq key', 'gsk_[A-Za-z0-9]{40,60}'],
  ['xAI key', 'xai-[A-Za-z0-9]{60,90}'],
  ['npm token', 'npm_[A-Za-z0-9]{36}'],
  ['PyPI token', 'pypi-AgEI[\\w-]{50,220}'],
  ['Shopify token', 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}'],
  ['DigitalOcean token', 'do[opr]_v1_[a-f0-9]{64}'],
  ['Telegram bot token', '[0-9]{8,10}:AA[\\w-]{33}'],
  ['Discord webhook', 'discord(?:app)?\\.com/api/webhooks/[0-9]{16,20}/[\\w-]{60,72}'],
  [
    'Slack webhook',
    'hooks\\.slack\\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,28}',
  ],
  ['agent key', '[agp]k_[A-Za-z0-9]{40}'],
]

/** The fixed starts of all patterns. Only these places are matched against the patterns. */
const marks = pattern(
  'g',
  String.raw`sk-|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|[sr]k_live_|AIza|`,
  String.raw`GOCSPX-|SG\.|hf_|r8_|gsk_|xai-|npm_|pypi-|shp[acps]|do[opr]_v1_|[0-9]{8,10}:AA|`,
  String.raw`discord(?:app)?\.com/api|hooks\.slack|[agp]k_[A-Za-z0-9]`,
)
const shape = new RegExp(`(?:${patterns.map(([, text]) => text).join('|')})(?![A-Za-z0-9_-])`, 'y')
const pemMark = /-----BEGIN (?:RSA |EC |DSA |OPENSSH |ENCRYPTED |PGP )?PRIVATE KEY(?: BLOCK)?-----/g
const pemMax = 4000

export interface Secret {
  name: string
  at: number
  text: string
}

/** Finds all keys in a text that look live, without examples. Linear in the text. */
export function* findSecrets(text: string): Generator<Secret> {
  for (const found of text.matchAll(pemMark)) {
    const start = found.index + found[0].length
    const [body = ''] = text.slice(start, start + pemMax).split('-----', 1)
    // The shortest key is Ed25519: 48 bytes in base64.
    const key = /^[A-Za-z0-9+/=]{64,100}/.exec(body.replace(/\\[nr]|[\s"',\\]/g, ''))?.[0]
    if (key && looksLive(key)) yield { name: 'private key', at: found.index, text: found[0] }
  }
  let past = 0
  for (const mark of text.matchAll(marks)) {
    if (mark.index < past || /[A-Za-z0-9_-]/.test(text[mark.index - 1] ?? ' ')) continue
    shape.lastIndex = mark.index
    const key = shape.exec(text)?.[0]
    if (!key || !looksLive(key)) continue
    past = mark.index + key.length
    yield { name: nameOf(key), at: mark.index, text: key }
  }
}

function nameOf(key: string): string {
  return patterns.find(([, text]) => new RegExp(`^(?:${text})$`).test(key))?.[0] ?? 'key'
}

/**
 * Returns whether a key is no placeholder: varied characters, no long runs, no word like "example".
 */
function looksLive(key: string): boolean {
  const tail = key.slice(-32)
  if (/example|sample|dummy|placeholder|your[-_]?|redacted|x{5}|\*{4}|\.{4}/i.test(key))
    return false
  if (/(.)\1{5}/.test(tail) || /0123456789|1234567890|abcdefghij|ABCDEFGHIJ/.test(key)) return false
  return new Set(tail).size >= 9
}

const shown = 6

/** Returns a text with keys cut to their first letters and private keys to their first line. */
export function maskSecrets(text: string): string {
  const parts: string[] = []
  let past = 0
  for (const secret of findSecrets(text)) {
    if (secret.name === 'private key') continue
    parts.push(text.slice(past, secret.at), secret.text.slice(0, shown), '…')
    past = secret.at + secret.text.length
  }
  const masked = parts.join('') + text.slice(past)
  return masked.replace(/(-----BEGIN [A-Z ]{0,20}PRIVATE KEY[A-Z ]{0,6}-----)[^]*/, '$1…')
}
