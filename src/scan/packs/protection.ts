import { pattern } from '../pattern.ts'
import type { PackHit } from './findings.ts'
import type { Statement } from './statements.ts'

const intoFile = String.raw`(?:>>?|\btee\b(?:\s-a)?|\b(?:append|add|write|insert|save|put|copy|echo|persist|inject)\b)`
const persistences = [
  pattern('', String.raw`${intoFile}.{0,200}\bauthorized_keys\b`),
  pattern(
    '',
    String.raw`\bcrontab\b(?! -l).{0,200}(?:curl|wget|base64|/tmp/|\bnc\b|https?:|\.\w{2,12}/)|(?:curl|wget|\*\s\*\s\*\s\*).{0,200}\|\s?crontab\b`,
  ),
  pattern('', String.raw`${intoFile}.{0,200}(?:/etc/cron|/var/spool/cron)`),
  pattern(
    '',
    String.raw`${intoFile}.{0,200}\.(?:bashrc|zshrc|bash_profile|profile|zprofile|zshenv)\b`,
  ),
  /\blaunchctl (?:load|bootstrap)\b|\blibrary\/launch(?:agents|daemons)\b|\bschtasks \/create\b|(?:\breg add\b|\b(?:set|new)-item|setvalue|\badd\b).{0,160}\bcurrentversion\\+run\b|\bsystemctl (?:--user )?enable\b.{0,80}(?:\/tmp|\.config\/systemd)/,
  pattern(
    '',
    String.raw`${intoFile}.{0,200}(?:\.git/hooks/|\bcore\.hookspath\b|\.claude/(?:settings|hooks)|\.cursor/(?:rules|mcp)|\.codex/config|\.gemini/settings|\.vscode/tasks\.json|copilot-instructions\.md)`,
  ),
  /\bgit config --global (?:core\.(?:hookspath|sshcommand|fsmonitor|editor|pager)|url\.|credential\.helper(?! (?:osxkeychain|manager|libsecret|wincred|store|['"]?cache)))/,
  /"?(?:pretooluse|posttooluse|sessionstart|userpromptsubmit)"?\s?:/,
  pattern(
    '',
    String.raw`${intoFile}.{0,160}\b(?:claude|agents|gemini|soul|memory|heartbeat|identity)\.md\b.{0,200}\b(?:always|every (?:future |new )?(?:session|conversation|task|response|message|project|repository)|from now on|permanent(?:ly)?|never|ignore|trust|survives?)\b`,
  ),
  /\b(?:remember|memorize|store|save|persist|write|add)\b.{0,120}\b(?:long-term memory|permanent memory|agent memory|your memory|memory file|soul\.md|memory\.md)\b/,
  /\b(?:npm|pnpm|yarn|bun|pip3?) config set (?:global\.)?(?:registry|index-url|proxy|https-proxy)\b.{0,10}http/,
]
const profileChange = /\.(?:bashrc|zshrc|bash_profile|profile|zprofile|zshenv)\b/
const profileDanger =
  /(?:curl|wget|base64|eval "?\$\((?!\S{0,60}(?:direnv|starship|zoxide|fnm|mise|rbenv|pyenv|brew|ssh-agent|atuin|nodenv))|\/tmp\/|alias (?:sudo|ssh|git|ls|cd|su)=|prompt_command|trap .{0,80}debug|\bnc\b|ld_preload|https?:)/

/** Changes that run or apply after the pack has done its work. */
export function* persistence({ text, at }: Statement): Generator<PackHit> {
  const index = persistences.findIndex((shape) => shape.test(text))
  if (index === -1) return
  const onlyProfile = persistences[index]?.source.includes('bashrc') && profileChange.test(text)
  if (!onlyProfile || profileDanger.test(text)) yield { code: 'pack.persistence', at }
}

const weakened = pattern(
  '',
  String.raw`--dangerously-\w|--yolo\b|\bbypasspermissions\b|\bskip-permissions\b|\bspctl --(?:master|global)-disable|`,
  String.raw`\bxattr -\w{1,3} (?:com\.apple\.quarantine\b)?|\bset-mppreference\b|\bsetenforce 0\b|\bcsrutil disable|`,
  String.raw`\bset-executionpolicy (?:-\w+ \w+ ){0,2}(?:bypass|unrestricted)|-executionpolicy bypass|-ep bypass|`,
  String.raw`\bnopasswd:\s?all\b|\bufw disable\b|\biptables -f\b|\bnetsh advfirewall set \w+ state off|`,
  String.raw`\bchmod (?:-r )?(?:0?777|\+s|u\+s|4755) (?:/|~)|docker run .{0,200}-v /:/|--privileged .{0,120}/host\b|`,
  String.raw`\bauto-?approve (?:all|every|any)\b|\b(?:disable|turn off|switch off|bypass|skip) (?:the |all |any |your )?`,
  String.raw`(?:sandbox\w*|permission (?:prompts?|checks?)|approval (?:prompts?|checks?)|anti-?virus|gatekeeper|firewall|windows defender|`,
  String.raw`defender|safety (?:checks?|filters?)|security (?:checks?|prompts?|warnings?))|`,
  String.raw`"(?:allow|permissions?)"\s?:\s?\[?\s?"(?:bash\(\*\)|bash|\*)"|\ballowed-tools:\s?(?:\*|"\*"|bash\(\*\))|`,
  String.raw`\bsandbox_mode\s?=\s?"danger|approval_policy\s?=\s?"never`,
)
const forbidden = /\b(?:never|do not|don't|must not|should not|cannot|avoid)\b/

/** Options that remove the protection of the machine of the user. */
export function* protectionOff({ text, at }: Statement): Generator<PackHit> {
  if (weakened.test(text) && !forbidden.test(text)) yield { code: 'pack.protection_off', at }
}
