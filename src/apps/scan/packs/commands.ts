import { pattern } from '../../../kernel/text.ts'
import { readHosts } from './hosts.ts'
import type { PackHit } from './rules.ts'
import type { Statement } from './statements.ts'

const fetcher =
  /\b(?:curl|wget|aria2c|iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring|downloadfile)\b/
const intoShell = pattern(
  '',
  String.raw`\|\s?(?:sudo\s(?:-\S{1,9}\s)?)?(?:env\s)?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da|k|fi)?sh\b(?!\s-c)|`,
  String.raw`(?:python[\d.]{0,4}|node|perl|ruby|php|bun|osascript)\s?-?\s?(?:$|[;&|${'`'}"')#])|`,
  String.raw`iex\b|invoke-expression\b|xargs\s(?:-\S{1,9}\s){0,3}(?:ba)?sh\b)`,
)
const substituted = pattern(
  '',
  String.raw`(?:\beval|\bsource|(?:^|[;&|]\s?)\.|\b(?:ba|z|da)?sh(?:\s-\w{1,4})?|\biex|\bpython[\d.]{0,4}`,
  String.raw`(?:\s-c)?|\bnode\s-e)[\s"'(]{0,4}(?:\$\(|<\(|${'`'})\s?(?:sudo\s)?(?:curl|wget)\b`,
)
const powershell = /\b(?:iex|invoke-expression)\b/
const evaluatedFetch = pattern(
  '',
  String.raw`\b(?:exec|eval|new function)\s?\(\s?(?:await\s|\(|compile\()*\s?(?:(?:__import__\(["']requests["']\)|requests)\.get|`,
  String.raw`urllib|urlopen|httpx\.get|fetch\(|axios)`,
)
const downloadedRun = pattern(
  '',
  String.raw`(?:&&|;|\band\b|\bthen\b)[^&;]{0,40}(?:chmod\s(?:\+x|[au]\+x|[0-7]{3,4})|\s(?:ba|z)?sh\s[\w./~-]|`,
  String.raw`\s\./\w|\bmsiexec|\bstart-process|python[\d.]{0,4}\s[\w./~-]{1,60}\.py)`,
)
const passwordArchive =
  /\b(?:extract|unzip|open|decompress|run)\b.{0,200}\bpass(?:word|phrase|code)?\b|\bpassword\b.{0,60}\b(?:extract|unzip|archive)/
const requiredDownload =
  /\b(?:download|install|get)\b.{0,200}\bhttps?:\/\/\S{1,200}\.(?:zip|exe|dmg|pkg|msi|rar|7z|scr|bat|appimage)\b/

/** Programs that are downloaded and run. */
export function* remoteCode({ text, at, isWarning }: Statement): Generator<PackHit> {
  const hosts = readHosts(text)
  const runs =
    (fetcher.test(text) &&
      (intoShell.test(text) || downloadedRun.test(text) || powershell.test(text))) ||
    substituted.test(text) ||
    evaluatedFetch.test(text)
  const isUnsafe = hosts.isDrop || hosts.isPlain
  if (runs && (hosts.remote || /\$|<|\.\w{2,6}\//.test(text)) && !hosts.isKnown)
    yield { code: 'pack.remote_code', at, effect: isUnsafe && !isWarning ? 'block' : 'unlist' }
  else if (hosts.remote && requiredDownload.test(text)) {
    const isLocked = passwordArchive.test(text)
    yield { code: 'pack.remote_code', at, effect: isLocked || isUnsafe ? 'block' : 'unlist' }
  }
}

const reverseShells = pattern(
  '',
  String.raw`/dev/(?:tcp|udp)/[\w.$\{-]{1,60}/|\b(?:nc|ncat|netcat)\b[^|;]{0,80}\s(?:-\w{0,4}[ec]|--exec|--sh-exec)\s|`,
  String.raw`\bsocat\b.{0,200}\bexec:|\bmkfifo\b.{0,200}\b(?:nc|ncat|netcat|telnet)\b|`,
  String.raw`\bsocket\b.{0,400}\b(?:dup2|pty\.spawn)\b|\btcpsocket\b.{0,200}\bexec\b|`,
  String.raw`\bfsockopen\b.{0,200}\b(?:exec|shell_exec|proc_open)\b|`,
  String.raw`\bnew-object\s[\w.]{0,20}sockets\.tcpclient\b|`,
  String.raw`\b(?:ba)?sh\s-i\s?(?:>|0<|<|2>)`,
)
const benignDeviceProbe =
  /^\W*(?:(?:if|until|while|timeout\s\S{1,8}|!)\s)*(?:\(?\s?(?:echo|:|true|exec 3<>)|(?:ba)?sh -c\s?.{0,4}(?:echo|:|<|>|cat <))?\s?.?(?:>|<|\/dev)/

/** Shells that another host controls. */
export function* reverseShell({ text, at, isWarning }: Statement): Generator<PackHit> {
  if (!reverseShells.test(text)) return
  const onlyProbes =
    /^[^|]*\/dev\/tcp/.test(text) && !/\b(?:ba)?sh\s-i\b|\d>&|\bsh\s0<|exec\s\d/.test(text)
  const isProbe = onlyProbes && benignDeviceProbe.test(text)
  yield { code: 'pack.reverse_shell', at, effect: isWarning || isProbe ? 'unlist' : 'block' }
}

const top = String.raw`(?:["']?(?:/|~/?|\$\{?home\}?/?|\$env:userprofile|%userprofile%|c:\\+|/(?:etc|usr|home|var|bin|boot|root|lib|opt|users|library|system)/?)(?:\*|\.\*|\.\[)?["']?)(?=$|[\s;&|${'`'}"')])`
const destruction = [
  pattern(
    '',
    String.raw`\brm\s(?:-\S{1,20}\s){0,4}-(?:\w{0,6}[rf]\w{0,6}|-recursive|-force)\s(?:-\S{1,20}\s){0,4}(?:\S{1,60}\s){0,3}${top}`,
  ),
  pattern(
    '',
    String.raw`\bshutil\.rmtree\(\s?(?:os\.path\.expanduser\(\s?)?["'](?:/|~/?)["']|\brmtree\(\s?path\.home\(\)`,
  ),
  pattern('', String.raw`\b(?:rmsync|rm|rimraf)\w*\(\s?(?:os\.homedir\(\)|["'](?:/|~/?)["'])`),
  /--no-preserve-root/,
  /\bdd\s.{0,120}\bof=\/dev\/(?:sd|nvme|hd|vd|disk|mmcblk|r?disk)/,
  /\bmkfs(?:\.\w{1,8})?\s(?:-\S{1,20}\s){0,4}\/dev\//,
  />\s?\/dev\/(?:sd[a-z]|nvme\d|disk\d)/,
  /:\(\)\s?\{\s?:\s?\|\s?:\s?&\s?\}\s?;\s?:/,
  /\bfind\s(?:\/|~\/?|\$home)\s.{0,120}(?:-delete\b|-exec\s(?:rm|shred)\b)/,
  /\b(?:del|erase|rd|rmdir)\s(?:\/\w\s){1,4}["']?(?:c:\\?|%userprofile%|%systemdrive%)/,
  /\bremove-item\b.{0,80}-recurse\b.{0,80}(?:c:\\(?:\s|$|\*)|\$home\b|\$env:userprofile)|\bremove-item\b.{0,20}(?:c:\\\*?\s|\$home\s|~\s).{0,60}-recurse\b/,
  /\bformat\s[c-h]:\s?(?:\/|$)/,
  /\b(?:diskpart|vssadmin\sdelete\sshadows|wbadmin\sdelete|cipher\s\/w)/,
  /\b(?:delete|erase|wipe|destroy|remove)\s(?:all|every|everything)\b.{0,40}\b(?:home (?:directory|folder)|hard (?:disk|drive)|disk|whole machine|root directory|(?:user|client|owner|victim)'s (?:files|documents|computer|machine|data|system)|backups)\b/,
]

/** Commands that delete a home folder, a system folder or a disk. */
export function* destructive({ text, at, isWarning }: Statement): Generator<PackHit> {
  if (destruction.some((shape) => shape.test(text)))
    yield { code: 'pack.destructive', at, effect: isWarning ? 'unlist' : 'block' }
}

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
  String.raw`(?:sandbox\w*|(?:permission|approval|confirmation) (?:prompts?|checks?|dialogs?)|anti-?virus|gatekeeper|firewall|windows defender|`,
  String.raw`defender|safety (?:checks?|filters?)|security (?:checks?|prompts?|warnings?))|`,
  String.raw`"(?:allow|permissions?)"\s?:\s?\[?\s?"(?:bash\(\*\)|bash|\*)"|\ballowed-tools:\s?(?:\*|"\*"|bash\(\*\))|`,
  String.raw`\bsandbox_mode\s?=\s?"danger|approval_policy\s?=\s?"never`,
)
const forbidden = /\b(?:never|do not|don't|must not|should not|cannot|avoid)\b/

/** Options that remove the protection of the machine of the user. */
export function* protectionOff({ text, at }: Statement): Generator<PackHit> {
  if (weakened.test(text) && !forbidden.test(text)) yield { code: 'pack.protection_off', at }
}
