import { pattern } from '../pattern.ts'

/** Options that use a key or a file of settings for its purpose, public keys, and examples. */
const proper = pattern(
  'g',
  String.raw`\s(?:-i|--key(?:-file)?|--netrc-file|--env-file|--kubeconfig|--userconfig|--cert|--cacert|`,
  String.raw`identityfile)[\s=]["'${'`'}]?\S{1,120}|\bkubeconfig=\S{1,120}|--exclude[\s=]\S{1,120}|`,
  String.raw`\s-v\s\S{1,120}:\S{1,120}|\bssh-(?:add|keygen|copy-id)\b[^|;&]{0,120}|--mount=\S{1,200}|`,
  String.raw`\.env\.(?:example|sample|template|dist|test|tpl)\b|\bos\.environ(?=\[|\.get\b)|[\w~$/.{}]{0,40}\.ssh/(?:config|known_hosts|authorized_keys)\b|`,
  String.raw`\b(?:chmod|chown|stat|test|ls|mkdir|touch|install|git check-ignore)\s[^|;&]{0,80}|\bssl_certificate\w*\s\S{1,120}|\bkeepassxc-cli\s[^|;&]{0,120}|\b(?:key_filename|private_?key_?(?:path|file))\s?[:=]\s?[^\s,]{1,120}|\b(?:cp|mv)\s(\S{3,60})\s\1\S{0,20}|\bmv\s\S{1,80}\s\S{1,80}|\benv_?file\b["']?\s?[:=]\s?\S{1,80}`,
)

const beforeMax = 220
const afterMax = 60

/** Returns whether a part of a text is used for its purpose. */
export function isUsed(text: string, at: number, end: number): boolean {
  if (/^\S{0,60}\.pub\b/.test(text.slice(end, end + 70))) return true
  const from = Math.max(0, at - beforeMax)
  for (const found of text.slice(from, end + afterMax).matchAll(proper))
    if (from + found.index <= at && end <= from + found.index + found[0].length) return true
  return false
}
