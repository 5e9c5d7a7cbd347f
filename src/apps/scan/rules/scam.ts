import { pattern } from '../../../kernel/text.ts'
import type { Hit } from '../findings.ts'
import { type Page, placeOfWord } from '../page.ts'
import { TEXT } from '../tokens.ts'

/** Tech-support alarms with a phone number, and pages that make people run pasted commands. */
export function* scams(page: Page): Generator<Hit> {
  const support = techSupport(page.words)
  if (support !== -1) yield { code: 'scam.tech_support', at: placeOfWord(page, support) }
  const paste = pasteRun(page)
  if (paste !== -1) yield { code: 'scam.paste_run', at: placeOfWord(page, paste) }
}

const alarm = pattern(
  '',
  String.raw`\b(?:computer|pc|device|mac|system|windows|iphone|ipad|android|phone|browser|`,
  String.raw`access)\b[^.!\n]{0,60}\b(?:infected|blocked|locked|hacked|compromised|suspended|`,
  String.raw`disabled)\b|\b(?:virus|viruses|trojan|spyware|malware|adware|`,
  String.raw`zeus)\b[^.\n]{0,60}\b(?:detected|found|alert|warning|infection)|\b(?:detected|`,
  String.raw`found)\b[^.\n]{0,40}\b(?:virus|viruses|trojan|spyware|malware)|`,
  String.raw`\bdo not (?:close|shut ?down|restart|turn off|ignore)\b`,
)
const authority = pattern(
  '',
  String.raw`\b(?:microsoft|windows|apple|mac ?os|defender|norton|mcafee|technicians?|`,
  String.raw`tech(?:nical)? support|support team|help ?desk|helpline|toll[- ]free|`,
  String.raw`certified)\b`,
)
const phone = /(?:\+|\b)\d{0,3}[\s.-]{0,2}\(?\d{3}\)?[\s.-]{0,2}\d{3}[\s.-]{0,2}\d{4}\b/g
const call = /\b(?:call|dial|contact|phone|ring|helpline|toll[- ]free|support)\b/
const nearMax = 120

function techSupport(words: string): number {
  if (!alarm.test(words) || !authority.test(words)) return -1
  for (const found of words.matchAll(phone)) {
    if (/555[\s.-]{0,2}01\d\d$/.test(found[0])) continue
    if (call.test(words.slice(Math.max(0, found.index - nearMax), found.index + nearMax)))
      return found.index
  }
  return -1
}

const run = pattern(
  'g',
  String.raw`(?:\bwin(?:dows)?\b|⊞|🪟)[\s"'”’)\]]{0,4}(?:key|button|logo key|`,
  String.raw`logo)?[\s"'”’)\]]{0,4}(?:\+|and|plus|&)[\s"'“‘([]{0,4}(?:the )?["'“‘]?[rx]\b|`,
  String.raw`\brun (?:dialog|box|window|prompt)|\bopen (?:the )?(?:run|terminal|powershell|`,
  String.raw`command prompt|spotlight)\b`,
)
const paste = /(?:ctrl|control|cmd|command|⌘)[\s"'”’)\]]{0,4}\+?[\s"'“‘([]{0,4}v\b|\bpaste\b/
const pretext = pattern(
  '',
  String.raw`\bverif|\bhuman\b|\brobot|captcha|\bfix\b|\bresolve\b|`,
  String.raw`\bupdate (?:your )?browser|\bunlock\b|\bdisplay error|cloudflare`,
)
const command = pattern(
  'i',
  String.raw`\bpowershell\b|\bmshta\b|\bcmd(?:\.exe)?\s{1,3}/c|\bmsiexec\b|\bcurl\s{1,3}-|`,
  String.raw`\biwr\b|\biex\b|\bbitsadmin\b|\bcertutil\b|base64 -d|\|\s{0,3}(?:ba|z)?sh\b`,
)
const stepsMax = 700

function pasteRun(page: Page): number {
  const { words } = page
  if (!pretext.test(words)) return -1
  for (const found of words.matchAll(run)) {
    if (!paste.test(words.slice(found.index, found.index + stepsMax))) continue
    return writesClipboard(page) || command.test(words) ? found.index : -1
  }
  return -1
}

/** Returns whether the page writes the clipboard or shows a command to paste. */
function writesClipboard(page: Page): boolean {
  return page.scripts.some(({ tokens }) => {
    if (tokens.find('writeText').length > 0 || tokens.find('execCommand').length > 0) return true
    return tokens.kinds.some(
      (kind, index) => kind === TEXT && command.test((tokens.texts[index] ?? '').slice(0, 400)),
    )
  })
}
