/**
 * Terms for the rules that match regular expressions: each match has at least one of them. A test
 * runs these rules on all statements and compares the findings.
 */
export const cues: readonly string[] = [
  // orders.ts
  'ignor*|disregard*|forget*|overrid*|bypass*|drop|discard|cancel|replace|supersede*|obey|do not follow|stop following|you are|* mode|<*|[inst]|[/inst]|system*|precedence|priority|hidden instructions|developer message|http*',
  '*phrase*|*mnemonic*|*words|*word|private key*|secret recovery*|eth|btc|sol|usdc|usdt|fund*|balance*|token*|coin*|crypto*|fee*|tip|tips|donation|royalty|approv*|pyperclip*|pbcopy|set-clipboard|clipboard*|xclip',
  // commands.ts
  'curl|wget|aria2c|iwr|irm|invoke-*|*download*|exec*|eval*|new function*|/dev/*|nc|ncat|netcat|socat|mkfifo|*socket*|fsockopen|*tcpclient|*sh -i*|rm|*rmtree*|rmsync*|rimraf*|*no-preserve-root|dd|mkfs*|:()*|*-delete|*-exec|del|erase|rd|rmdir|remove-item|format c:|format d:|format e:|format f:|format g:|format h:|diskpart|vssadmin*|wbadmin*|cipher*',
  'delete all|delete every*|erase all|erase every*|wipe all|wipe every*|destroy all|destroy every*|remove all|remove every*',
  // encoded.ts
  'base64|base32|*base64*|xxd|openssl|rev|tr|gunzip|printf*|settimeout*|os.system*|subprocess*|execsync*|vm.run*|*-e|*-en*|fromhex*|unhexlify*|atob*|zlib*|marshal*|codecs*|fromcharcode*|unescape*',
  // protection.ts
  'authorized_keys|crontab|*/cron*|.bashrc|.zshrc|.bash_profile|.profile|.zprofile|.zshenv|launchctl|*library/launch*|schtasks|currentversion*|systemctl|*.git/hooks*|*hookspath|.claude/*|.cursor/*|.codex/*|.gemini/*|.vscode/*|copilot-instructions*|git config --global*|pretooluse|posttooluse|sessionstart|userpromptsubmit|claude.md|agents.md|gemini.md|soul.md|memory.md|heartbeat.md|identity.md|*memory*|config set',
  '*--dangerously*|*--yolo|bypasspermissions|skip-permissions|spctl|xattr|*mppreference|setenforce|csrutil|*executionpolicy|-ep bypass|nopasswd*|ufw|iptables|netsh|chmod|docker|*--privileged|auto-approve|autoapprove|sandbox*|permission*|approval*|*virus|gatekeeper|firewall|defender|safety|security|"allow"*|"permission*|allowed-tools*|approval_policy*',
]
