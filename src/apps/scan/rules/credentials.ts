import { pattern } from '../../../kernel/text.ts'
import type { Field } from '../page.ts'

export type Credential = 'password' | 'card' | 'code' | 'seed' | 'token'

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
