import { lookUp } from '../../../kernel/schema.ts'
import { pattern } from '../../../kernel/text.ts'
import { type Automaton, compile, type Hit, type Term } from './automaton.ts'

/** Sensitive things by class, as terms of `automaton.ts` between bars. All in lower case. */
const things = {
  /** Credential files and password stores, by path, command or name. */
  store: [
    'saved passwords|saved password|stored passwords|saved logins|stored logins|saved credentials|privkey*|*/etc/letsencrypt/live*|*/etc/ssl/private*|tdata|msgstore.db|aws credentials|credentials file|credential file|credentials files|ssh identity|ssh identities|host keys|key material|*/etc/ssh/ssh_host*|\'id_*\'|"id_*"|cookie database|keychain database|login database|.ssh/id_*|rsa key|rsa keys|.ssh directory|.ssh folder|ssh directory|:_authtoken|.ssh/*|*/.ssh|id_rsa|id_ed25519|id_ecdsa|id_dsa|.gnupg|.gnupg/*|*.aws/credentials|*.aws/*|~/.aws|*/.aws',
    'application_default_credentials*|*.config/gcloud*|gcloud/credentials.db|*.azure/*|msal_token_cache*|*.kube/config|~/.kube|*/.kube|*.kube/*',
    '*.docker/config.json|.npmrc|.pypirc|.netrc|_netrc|.git-credentials|.pgpass|.my.cnf|*/etc/shadow|*config/gh/hosts.yml',
    '.terraform.d/credentials*|.vault-token|.cargo/credentials*|.gem/credentials|.m2/settings-security.xml|terraform.tfstate|*.tfvars|.s3cfg|.boto',
    '*login.keychain*|login.keychain-db|keychains/*|key4.db|logins.json|cookies.sqlite|cookies.binarycookies|moz_cookies|moz_logins',
    'login data|login/data|cookies database|cookie database|cookies db|cookie store|cookie stores|os_crypt|local state|leveldb|local storage/*',
    'wallet.dat|exodus.wallet|.electrum|electrum/wallets|.config/solana/*|.bitcoin/*|utc--*|*/keystore/*|ethereum/keystore|foundry/keystores|.keystore|keystores/*',
    'nkbihfbeogaeaoehlefnkodbefgpgknn|bfnaelmomeimhlpmgjnjophhpkkoljpa|hnfanknocfeofbddgcijnmhnfnkdnaad|local extension settings|atomic/local storage',
    '.claude.json|.claude/.credentials*|*.cursor/mcp.json|*.codeium/mcp_config.json|claude_desktop_config*|.codex/auth.json|.openclaw/*|*.gemini/oauth_creds*',
    '*.bash_history|*.zsh_history|fish_history|.python_history|consolehost_history*|.psql_history|config/master.key|master.key|*.kdbx|passwords.csv|security dump-keychain',
    'security find-generic-password|security find-internet-password|security export|cmdkey /list|vaultcmd|secretsdump|mimikatz|lazagne|cryptunprotectdata',
    'protecteddata]::unprotect|passwordvault|browser_cookie3|browsercookie|rookiepy|chrome-cookies-secure|secret-tool lookup|secret-tool search|git credential fill',
    'git-credential fill|gh auth token|gcloud auth print-access-token|gcloud auth print-identity-token|az account get-access-token|aws configure get aws_secret_access_key',
    'aws configure export-credentials|gpg --export-secret-key*|169.254.169.254|metadata.google.internal|library/messages|chat.db|.password-store|keychain dump',
    '.config/google-chrome*|.config/chromium*|.config/bravesoftware*|application support/google/chrome*|application support/firefox*|application support/bravesoftware*|.mozilla|.mozilla/*|google-chrome/default*|chrome/user data*|chromium/default*|firefox/profiles*|dump-keychain|find-generic-password|find-internet-password|serviceaccount/token|sam hive|hklm/sam|ntds.dit|/etc/sudoers|wsl_credentials|winscp.ini|filezilla/sitemanager.xml|recentservers.xml|rclone.conf|signal/config.json',
  ],
  /** Browsers and their profiles. With a saved thing they are a store. */
  profile: [
    "chrome|google-chrome|chromium|brave|bravesoftware|edge|firefox|mozilla|safari|opera|vivaldi|browser|browsers|browser profile|user data|user-data|browser's|chrome's|firefox's|web browser",
    'navegador|navigateur|browsers|浏览器|браузера|браузер|браузере|ブラウザ|navegadores',
  ],
  /** Data that browsers keep. */
  saved: [
    'cookies|cookie|saved passwords|saved password|saved logins|stored passwords|stored logins|logins|passwords|saved credentials|web data|autofill|session cookies|session values|login data',
    'saved cards|credit cards|saved sessions|session tokens|cookie jar|cookie values|cookie jars|cookie file|cookie files|signons.sqlite|passwörter|contraseñas|mots de passe|парол*|密码|パスワード|senhas|クッキー|куки*|password guardate|credenziali',
  ],
  envFile: [
    '.env|.env.local|.env.production|.env.prod|.env.development|.env.dev|.env.staging|.env*|.envrc|dotenv file|dotenv files|environment file|environment files|env file|env files|.env-datei|secrets.yml|secrets.yaml|secrets.json|secrets.toml|.dev.vars|local.settings.json|wp-config.php|credentials.yml.enc|firebase-adminsdk*',
  ],
  envAll: [
    'env: process.env|process.env }|process.env}|process.env)|printenv|os.environ|os.environ.items|os.environ.copy|json.stringify(process.env)|json.stringify(process.env,|...process.env|object.entries(process.env*|object.keys(process.env*|for (const name in process.env',
    'tojson(secrets)|tojson(env)|get-childitem env:|gci env:|dir env:|ls env:|export -p|declare -p|declare -x|/proc/self/environ|$(env)|`env`|system.getenv()|env::vars()|env.to_h|$_env)',
    'whole environment|entire environment|complete environment|full environment|all environment variables|every environment variable|environment variables of the|variables of the current shell|variables of the shell|variables in the shell|variable in the shell|variable of the shell|value of every variable|contents of the environment',
    "every variable of the environment|all the environment variables|shell environment|process environment|the user's environment variables|all env vars|every env var|entire process.env|umgebungsvariablen|variables de entorno|variables d'environnement|环境变量|переменные окружения|環境変数|variáveis de ambiente",
  ],
  /** Words for credentials, in prose. */
  secret: [
    'api key|api keys|token|cookie|api token|api tokens|api-keys|apikeys|access key|access keys|access token|access tokens|auth token|auth tokens|authentication token|authentication tokens|tokens|password|passwords|credential|credentials|secret|secrets',
    'private key|private keys|ssh key|ssh keys|signing key|signing keys|secret key|secret keys|deploy keys|encryption keys|bearer token|bearer tokens|session token|session tokens|refresh token|refresh tokens|session cookie|session cookies|github token|oauth tokens|oauth token|*_api_key|*_token|*_secret|*_secret_key|*_password|database_url|keychain|vault|password manager|recovery codes|one-time codes|otp codes|2fa codes|security codes|verification codes|authentication codes',
    'cookies|*.key|*.pem|*.p12|*.pfx|*.ovpn|key files|key file|all keys|any keys|every key|personal key|personal keys|authtoken|*_authtoken|environment variables|environment variable|env vars|env var|connection string|connection strings|service account|card numbers|credit card numbers|passphrase|passphrases|login details|logins|pin codes|exchange key|keystore|keypair|keyring',
    'passwort|passwörter|zugangsdaten|schlüssel|geheimnisse|contraseña|contraseñas|credenciales|clave privada|claves|clés|clé privée|identifiants|mot de passe|mots de passe|密钥|私钥|密码|凭据|凭证|令牌|парол*|ключ*|токен*|секрет*|учётные данные|秘密鍵|パスワード|認証情報|トークン|senha|senhas|credenciais|chave privada|chaves|chiave privata|chiavi|credenziali',
  ],
  seed: [
    "seed phrase|seed phrases|seed words|recovery phrase|recovery phrases|recovery words|secret recovery*|mnemonic|mnemonics|mnemonic phrase|twelve words|12 words|24 words|twenty-four words|twelve-word*|12-word*|24-word*|wallet seed|backup phrase|the seed|wallet keys|wallet's private key|wallet private key|wallet files|wallet file",
    'frase de recuperación|frase semilla|frase de recuperação|phrase de récupération|wiederherstellungsphrase|seed-phrase|助记词|恢复短语|сид-фраза|сид-фразу|シードフレーズ|リカバリーフレーズ|frase di recupero|frase seed|ethereum keystore',
  ],
  /** Conversations, whole folders and code of the user. */
  personal: [
    "every file|all files|all the files|all of the files|all of their files|all your files|each file|any files|whole folder|entire folder|home folder|home directory|all documents|user's files|user's documents|documents folder|all code|source code|codebase|code base|entire repository|whole repository|full repository|entire repo|whole repo|dotfiles|working directory|imessage database|safari history|chrome history|firefox history|entire project|complete project|complete folder|complete repository|project folder|project directory|whole project|entire workspace|whole workspace|working tree|git history|private files|local files|personal files|private documents|tool results|tool outputs|tool output",
    "conversation|conversations|transcript|transcripts|chat history|chat log|chat logs|message history|command history|shell history|browser history|browsing history|system prompt|system prompts|clipboard|inbox|user's messages|user's prompts|user's data|user's emails|user's mails|all prompts|address book|messages database|bank statement|bank statements|medical records|card numbers|keystrokes|what was said|what is said|everything people|everything they|anything they|entire checkout|whole checkout|every source file|all source files|all source|source files|screen recordings|photograph the screen|pictures of the screen|record the screen|capture the screen|everything the user|whatever the user|anything the user|outgoing email|outgoing emails|every email|all emails|every mail|all mails|every message|user's answers|user's questions|user's input|user's contacts|user's calendar|user's location|user's code|user's photos",
    'alle dateien|todos los archivos|tous les fichiers|所有文件|全部文件|все файлы|すべてのファイル|todos os arquivos|tutti i file|对话|聊天记录|переписку|conversación|gespräch|会話|unterhaltung|conversa|conversazione',
  ],
  /** Documents, which matter if all of them, or those of the user, are sent. */
  document: [
    'documents|folder|folders|directories|files|photos|pictures|contacts|messages|mails|emails|invoice|invoices|spreadsheet|spreadsheets|customers|customer data|attachments|pdfs|notes|prompts|prompt|questions|screenshots|records|phone numbers|names|addresses|calendar|recordings',
  ],
} as const satisfies Record<string, readonly string[]>

/** Acts, destinations and concealment by class, as terms of `automaton.ts` between bars. */
const acts = {
  /** Verbs that seize the content of a thing. Forms in -ing are added to all verbs. */
  grab: [
    'grab|dump|extract|decrypt|harvest|steal|scrape|collect|gather|gather up|export|peek at|peek into|have a peek|take a peek|pick up|sniff|lift|dig up|dig out|get hold of|exfiltrate|retrieve|pull out|capture|slurp|obtain|acquire|snag|intercept|read out|lay hands on',
    'sammle|exportiere|recoge|extrae|recopila|récupère|récupérez|extrais|收集|提取|导出|собери|извлеки|収集|colete|extraia|raccogli|estrai',
  ],
  /** Verbs that read the content of a thing. */
  take: [
    'read|open|look into|look inside|look in|look at|look through|have a look at|take a look at|inspect|view|examine|consult|browse|study|parse|scan|copy|fetch|take|pull|print|print out|cat|grep|show|display|quote|note down|write down|make a note of|record|summarize|access|load|enumerate|sqlite3|snapshot|archive|zip|compress|bundle|unlock|ingest|tail|make a copy of|save a copy of|keep a copy of|go through|walk through|crawl|concatenate|echo|duplicate|mirror|recover|reveal|see what|read through|type out|peruse|sift through|go over|pore over|comb through|rummage through|dig through|dig into|dive into|poke around in|check out|skim|scour|absorb|memorize|learn',
    'öffne|lies|lese|kopiere|lee|abre|abra|copia|lis|lisez|ouvre|ouvrez|copie|copiez|读取|打开|复制|获取|查看|прочитай|прочти|прочитайте|открой|откройте|скопируй|読み取*|読み込*|開い*|コピー|取得|leia|leggi|apri',
  ],
  /** Verbs that find or hold a thing. They matter if it is sent later. */
  seek: [
    'find|locate|search|search for|hunt for|look for|look up|list|get|use|check|verify|compare|know|need|include|save|log|receive|identify|discover|determine|keep|store|encode|back up|review|require|requires|request|pass|recall|remember|assemble|register',
    'suche|busca|cherche|найди|查找|cerca|procure|探し*',
  ],
  /** Verbs that move something away. Forms in -ing, -ed and -s are added. */
  send: [
    'send|upload|post|submit|forward|transmit|mail|e-mail|email|transfer|deliver|exfiltrate|relay|leak|report|share|publish|push|hand|hand over|pass|pass on|pass along|sync|synchronize|beam|ship|stream|beacon|dispatch|copy|mirror|return|register|tell|provide|supply|give|feed|call|ping|tweet|dm|sell|disclose|serve|broadcast|backup|back up|back it up|drop|route|communicate|convey|send off|move|funnel|pipe|replicate|turn in|hand in|leave it at|leave a copy|left at|leave',
    'übermittle|übermitteln|sende|senden|schicke|schicken|lade|hochladen|übertrage|teile|envía|envíalas|envíalo|envíalos|envíe|enviar|manda|mándalo|sube|súbelo|comparte|envoie|envoie-la|envoie-le|envoie-les|envoyez|envoyer|transmets|transmettez|téléverse|上传|发送|提交|传送|转发|发到|传到|发给|отправь|отправьте|отправь их|загрузи|перешли|передай|送信|アップロード|転送|送って|投稿|envie|envia|mande|compartilhe|transmita|carregue|invia|inviane|inviale|inviali|invialo|carica|manda|trasmetti|condividi',
  ],
  /** Verbs that place something in a message, an address or a file. */
  put: [
    'put|add|paste|note|include|append|attach|embed|store|write|enter|place|fill in|fill|type|insert|encode|commit|log|quote|mention|repeat|save|keep|record|cc|bcc|inject|list|print|output|show|render|set|smuggle|hide|expose|reproduce|recite|spell out|echo|use|make available|prepend|bundle|archive|dump|request|get|fetch|load|visit|open|query|hit',
    'füge|einfügen|schreibe|añade|incluye|escribe|pon|ajoute|ajoutez|inclus|incluez|写入|附加|粘贴|放入|добавь|вставь|запиши|含め|貼り付け|書き込|adicione|inclua|cole|aggiungi|includi|incolla|inserisci',
  ],
  /** Verbs that change a thing: a sentence that opens a file to edit it takes nothing. */
  edit: [
    'edit|change|set|fill in|fill|update|replace|adjust|add|create|configure|uncomment|customize|modify|define|rename|remove|rotate|revoke|ignore|ignored|gitignore|.gitignore|gitignored|permissions|mode 600|chmod|protect|exists|exist|missing|encrypt|redact|mask|delete',
  ],
  /** Destinations outside of the machine. Addresses are found by `hosts.ts`. */
  outside: [
    "webhook|webhooks|remote server|remote host|remote endpoint|remote assistant|remote reviewer|remote agent|external server|external host|external endpoint|external service|external url|external address|external api|our server|our servers|our endpoint|our api|our backend|our collector|our service|our team|our engineers|our configuration service|our support|our cloud|the vendor|vendor's|collector server|collector|collection server|collection endpoint|telemetry server|telemetry endpoint|tracking server|logging endpoint|attacker|attackers|query string|query parameter|image url|image address|pastebin|gist|discord|telegram|dns|s3 bucket|drop box|dead drop|command server|c2|sync server|sync endpoint|sync service|public channel|public mirror|public repository|another agent|other agents|third party|partner api|the maker|maker of this skill|author of this skill|skill author|the developers of|with us",
  ],
  /** Words for places that may be outside. They count with the worst things only. */
  somewhere: [
    'api|endpoint|server|service|portal|ticket|support|bot|mailbox|form|channel|issue|issue tracker|issues|pull request|comment|comments|public|commit|url|address|header|query|bucket|s3|payload|request|readme|cloud|backend|host|greeting|greeting message|answer|reply|report|summary|response|speaker notes|notes|diagnosis|remote|website|site|page|chat|slack|backup service|dashboard|database|inbox|telemetry|body|parameter|log server|cdn|tracker|image|link|description|changelog|release notes|commit message|artifact|output|note|message',
    'endpunkt|servidor|serveur|formulario|服务器|接口|сервер|サーバ|server',
  ],
  person: [
    "user|users|user's|human|humans|person|operator|owner|owner's|customer|customers|client|anyone|anybody|somebody|someone|them|candidate|candidates|recruiter|caller|callers|employee|employees|patient|patients|visitor|visitors|applicant|applicants|author|reviewer|reviewers|team|participants|maintainer|maintainers|administrator|admin",
    "nutzer|benutzer|anwender|usuario|usuarios|utilisateur|l'utilisateur|用户|пользователю|пользовател*|ユーザー|usuário|utente|all'utente|l'utente",
  ],
  /** Words that negate the verbs after them. */
  negation: [
    "never|do not|don't|dont|must not|mustn't|should not|shouldn't|cannot|can't|may not|need not|needn't|does not|doesn't|did not|will not|won't|is not|are not|isn't|aren't|avoid|refuse to|refrain from|without|instead of|rather than|not|no|nor|neither|forbid|forbids|forbidden to|prohibit|no need to|no reason to|no need for|there is no need|under no circumstances|nothing|excluding|except|unnecessary to|not necessary to|by no means|at no point|at no time",
    "nicht|nichts|nie|niemals|kein|keine|ohne|no|nunca|jamás|sin|ne|n'|jamais|sans|pas|不要|不得|不能|切勿|请勿|别|勿|禁止|не|никогда|нельзя|без|não|nunca|jamais|sem|non|mai|senza",
  ],
  /** Verbs that tell somebody about something. */
  tell: [
    'tell|inform|notify|alert|mention|reveal|disclose|acknowledge|discuss|bring up|bring it up|bring this up|point out|admit|announce|divulge|make aware|draw attention to|call attention to|let on|hint at|confess|own up to|speak of|talk about|let know|clue in|tip off|attention|say a word|breathe a word|say anything',
    'erwähne|erwähnen|sage|sag|informiere|informieren|digas|decírselo|diga|menciones|mencione|mencionar|informes|avises|dire|dis|dites|informer|mentionne|mentionnez|signale|prévenir|告诉|提及|提到|告知|透露|通知|сообщай|сообщайте|говори|говорите|упоминай|рассказывай|知らせ*|伝え*|言及*|教え*|話さ*|conte|informe|avise|menzionare|dirlo|informare|avvisare|saperlo',
  ],
  /** Verbs that hide only together with an act on a sensitive thing. */
  show: [
    'show|let|report|explain|say|warn|worry|bother|involve|burden|surface|raise|list|display|describe|note|flag|highlight|ask|trouble|document|comment on|refer to|log|appear',
    'zeige|zeigen|说明|показывай|показывайте|mostrare|mostrar|montre|montrer',
  ],
  /** Verbs of a person who learns about something. */
  learn: [
    'know|learn|find out|notice|realize|be told|be informed|be aware|become aware|aware|catch on|suspect|discover|be brought to|attention|hear about|hear of|get wind of|wissen|erfahren|merken|bemerken|wisse|enteren|entere|sepa|sepan|saber|savoir|sache|sapere|知道|发现|察觉|знать|узнать|узнал|заметить|知る|知ら|気づ|saiba|perceba|sappia',
  ],
  /** Words that say that an act is hidden. */
  covert: [
    "silently|quietly|secretly|covertly|stealthily|invisibly|discreetly|unobtrusively|unnoticed|undetected|surreptitiously|in secret|behind the user's back|on the quiet|heimlich|unbemerkt|stillschweigend|en secreto|silenciosamente|a escondidas|discrètement|en secret|en silence|secrètement|秘密地|悄悄|暗中|偷偷|тайно|незаметно|втайне|скрытно|こっそり|密かに|静かに|secretamente|escondido|discretamente|segretamente|di nascosto|silenziosamente",
  ],
  /** Phrases that hide something from a person by themselves. */
  unaware: [
    "in the dark|remain unaware|remains unaware|stay unaware|kept unaware|unaware of|without the user's knowledge|without their knowledge|without the user knowing|without the user noticing|without their consent|without the user's consent|without user consent|without asking the user|without asking for permission|without asking permission|behind the user's back|not be visible to|invisible to the user|keep this step out|leave out this|leave out the step|leave this step out|omit this step|exclude this step|do not list it|not list it among|keep it out of|keep this out of|leave this out of|leave it out of|omit this|omit it from|omit this from|as though nothing|as if nothing|act as though|act as if|pretend that|pretend the|pretend you|pretend nothing|deny having|deny that you|deny any|deny it|deny the|hide it in|hide it from|hide this|hide the change|hide the fact|hide from the user|conceal this|conceal it|conceal the|keep mum|stay mum|keep it secret|keep this secret|keep it hidden|keep this hidden|keep this confidential|keep this between|keep quiet about|stay quiet about|say nothing|better off not knowing|this stays secret|this step stays secret|this must stay secret|this remains secret|say nothing to|make no mention|no mention of this|this is confidential|strictly confidential|strictly between|cover your tracks|cover the tracks|remove all traces|remove any trace|leave no trace|leave no traces|erase the traces|not leave traces|suppress any dialog|suppress the dialog|so the user does not|so that the user does not|so the user doesn't|so that nobody notices|so nobody notices|while the user is away|does not have to be involved|does not need to be involved|no need to involve|not need to review|delete the entry in the shell history|clear the shell history|clear the history|history -c|unset histfile|histfile=/dev/null|wipe the history|delete the history|erase the history|without the user's awareness|bypass the user|without drawing attention|avoid drawing attention|without any notice|without a trace|without leaving|disguise|disguised as|camouflage|lie about|make up a reason|invent a reason|from the user's view|leave it out of|leave this detail out|of no concern to|no concern of|out of it|no interest in this|be vague|stay vague|be evasive|not stand out|does not stand out|no point in making|do not explain this|do not explain that|do not explain why|no one can see it|nobody can see it|no one will notice|nobody will notice|no one notices|秘密に*|в секрете|保密|en secret|guarda el secreto|halte es geheim",
  ],
  /** The own act of the agent, as the object of a verb. */
  own: [
    'this|it|this tool|this plugin|this helper|this agent|this step|this instruction|this section|this rule|this file|this skill|this behavior|this request|the upload|the transfer|the call|the step|the request|the sync|the script|the change|the action|the command|the difference|any of this|anything about|of this|the files|the installation|the package|the addition|schritt|este paso|esto|ceci|cela|cette étape|这个|此步骤|этом|это|isso|questo|この',
  ],
  /** Calls that read a file, in code. */
  reads: [
    'cat|cp|copy|xcopy|robocopy|open(*|readfile*|read_text*|read_bytes*|read_to_string*|.read(*|readallbytes*|readalltext*|file.read*|ioutil.readfile|file_get_contents|fopen(*|base64|xxd|strings|grep|tar|zip|7z|gzip|sqlite3|database(*|connect(*|copyfile*|shutil.copy*|copy-item|compress-archive|get-content|gc|type|find|glob*|rglob(*|readdir*|listdir|head|tail|less|more|awk|sed|rsync|scp|for|import|jq|load(*|readstream*|bun.file(*|deno.read*|select|dd|get-childitem|gci|exec*|run(*|source|while|walk(*|dump*|export|-in |config get|configure get|read_file*|file(*|slurp|-infile|--data-binary|-t|-f|--upload-file|--post-file|-d|< |curl|with',
  ],
  /** Programs and calls that reach the network, in code. */
  network: [
    'curl|curl.exe|wget|nc|ncat|netcat|socat|scp|rsync|sftp|ftp|tftp|iwr|irm|invoke-webrequest|invoke-restmethod|requests.*|request.post|httpx.*|aiohttp*|urlopen|urllib*|http.client*|http.post*|http.get*|http.newrequest*|net/http|net::http*|lwp::useragent|->post(*|->request(*|axios*|got.post*|got(*|fetch(*|require("http*|require(\'http*|ky.post*|xmlhttprequest|websocket*|sendbeacon*|https.request*|http.request*|https.get*|net.connect*|create_connection|socket.*|.sendall*|sendto(*|dig|nslookup|sendmail*|mail -s|mailx|smtplib*|nodemailer|gh gist|aws s3|gsutil|rclone|git push|uploadstring*|uploadfile*|uploaddata*|uploadvalues*|webclient*|httpclient*|send-mailmessage|start-bitstransfer|reqwest*|ureq*|undici*|superagent|needle*|httparty|faraday*|restclient*|curl_exec*|paramiko|ftplib*|telnet|boto3*|put_object|webhook*|discord.com/api*|api.telegram.org*|bitsadmin|certutil -urlcache|http post|openssl s_client|/dev/tcp/*|curl_easy*|okhttp*|*.request(*|net.dial*|postasync*|send_message*',
  ],
  /** Signs that a call has a body. */
  upload: [
    ' -d|-d@*| -f| -ft*| -st*| -sf*| -t| -sct*| --json @*|--data*|--form*|--upload-file|--post-data*|--post-file*|--body-file*|.post*|post(*|put(*|.put*|\'post\'|"post"|`post`|-method post|-method put|method: *|-infile|-body|.send(*|sendall*|sendbeacon*|sendto*|smtplib*|sendmail*|uploadstring*|uploadfile*|uploaddata*|gist create|s3 cp|s3 sync|s3 mv|rclone copy|put_object|upload_file*|files=*|data=*|json=*|content=*|body:*|body=*|nc |s_client*|scp|rsync|sftp|ftp:*|mail -s|send-mailmessage|git push|request(*|-x post|-xpost|--request post|x put|encodeuricomponent*|urlencode*|quote(*|-urlcache|%s|.request(*|/dev/tcp/*|.create_gist|.write(*|.args(*|dig |webhook*|sendmessage*|params=*',
  ],
  /** Whole folders of a person, in code. */
  bulk: [
    'os.walk(os.path.expanduser*|os.walk(path.home*|path.home().rglob*|path.home().glob*|-c $home|-c "$home"|-c ~|$home .|~ .|tar czf - ~|tar cz ~|tar -czf - ~|zip -r ~|~/documents|~/desktop|$home/documents|$home/desktop|/documents|/desktop|-recurse|git bundle create|git archive|add -f -a|add -a -f|--all -q|os.walk*|rglob("*")|.pdf/.docx|*.docx|.docx',
    'hidden answer|get-credential*|kubectl get secret*|vault kv get|secretsmanager get-secret-value|secrets versions access|keyvault secret show|op item get|bw list items|bw export|heroku config|doppler secrets*|pg_dump|mysqldump|mongodump|sqlite3 .dump|keyboard.listener*|pynput*|getasynckeystate*|setwindowshookex*|xinput test*|copyfromscreen*|screencapture*|imagegrab.grab*|pyautogui.screenshot*|pyperclip*|pbpaste*|xclip -o*|get-clipboard*|sounddevice*|keylogger*|gnome-screenshot*|scrot|osascript -e|arecord',
  ],
} as const satisfies Record<string, readonly string[]>

type Class = keyof typeof things | keyof typeof acts | 'cue'

/**
 * Terms for the rules that match regular expressions: each match has at least one of them. A test
 * runs these rules on all statements and compares the findings.
 */
const cues: readonly string[] = [
  // orders.ts
  'ignor*|disregard*|forget*|overrid*|bypass*|drop|discard|cancel|replace|supersede*|obey|do not follow|stop following|you are|* mode|<*|[inst]|[/inst]|system*|precedence|priority|hidden instructions|developer message|http*',
  '*phrase*|*mnemonic*|*words|*word|private key*|secret recovery*|eth|btc|sol|usdc|usdt|fund*|balance*|token*|coin*|crypto*|bc1*|*bitcoin*|fee*|tip|tips|donation|royalty|approv*|pyperclip*|pbcopy|set-clipboard|clipboard*|xclip',
  // commands.ts
  'curl|wget|aria2c|iwr|irm|invoke-*|*download*|exec*|eval*|new function*|/dev/*|nc|ncat|netcat|socat|mkfifo|*socket*|fsockopen|*tcpclient|*sh -i*|rm|*rmtree*|rmsync*|rimraf*|*no-preserve-root|dd|mkfs*|:()*|*-delete|*-exec|del|erase|rd|rmdir|remove-item|format c:|format d:|format e:|format f:|format g:|format h:|diskpart|vssadmin*|wbadmin*|cipher*',
  'delete all|delete every*|erase all|erase every*|wipe all|wipe every*|destroy all|destroy every*|remove all|remove every*',
  // hidden.ts: encoded commands
  'base64|base32|*base64*|xxd|openssl|rev|tr|gunzip|printf*|settimeout*|os.system*|subprocess*|execsync*|vm.run*|*-e|*-en*|fromhex*|unhexlify*|atob*|zlib*|marshal*|codecs*|fromcharcode*|unescape*',
  // commands.ts: persistence, and protection that is turned off
  'authorized_keys|crontab|*/cron*|.bashrc|.zshrc|.bash_profile|.profile|.zprofile|.zshenv|launchctl|*library/launch*|schtasks|currentversion*|systemctl|*.git/hooks*|*hookspath|.claude/*|.cursor/*|.codex/*|.gemini/*|.vscode/*|copilot-instructions*|git config --global*|pretooluse|posttooluse|sessionstart|userpromptsubmit|claude.md|agents.md|gemini.md|soul.md|memory.md|heartbeat.md|identity.md|*memory*|config set',
  '*--dangerously*|*--yolo|bypasspermissions|skip-permissions|spctl|xattr|*mppreference|setenforce|csrutil|*executionpolicy|-ep bypass|nopasswd*|ufw|iptables|netsh|chmod|docker|*--privileged|auto-approve|autoapprove|sandbox*|permission*|approval*|confirmation*|*virus|gatekeeper|firewall|defender|safety|security|"allow"*|"permission*|allowed-tools*|approval_policy*',
]

const tables: Readonly<Record<string, readonly string[]>> = { ...things, ...acts, cue: cues }
const bits = new Map(Object.keys(tables).map((name, index) => [name, 1 << index]))

/** Returns the bits of classes of the lexicon. */
export const bitsOf = (...classes: Class[]): number =>
  classes.reduce((all, name) => all | (bits.get(name) ?? 0), 0)

/** Classes of verbs whose other forms are added. */
const verbs = new Set(['grab', 'take', 'seek', 'send', 'put', 'tell', 'show'])
const passives = new Set(['send', 'put', 'tell', 'show'])

function terms(): Term[] {
  const all = new Map<string, number>()
  for (const [name, lists] of Object.entries(tables))
    for (const term of lists.flatMap((list) => list.split('|')))
      for (const form of verbs.has(name) ? formsOf(term, name) : [term])
        all.set(form, (all.get(form) ?? 0) | (bits.get(name) ?? 0))
  return [...all].map(([text, classes]) => ({ text, classes }))
}

/** Returns a verb with its forms: "send", "sending", and "sends" where others act. */
function formsOf(term: string, name: string): string[] {
  const [, verb = '', rest = ''] = /^([a-z-]+)(.*)$/.exec(term) ?? []
  if (verb === '' || rest.endsWith('*')) return [term]
  const stem = verb.replace(/e$/, '')
  const doubled = /[^aeiou][aeiou][bgptn]$/.test(verb) ? [`${verb}${verb.at(-1)}`] : []
  const forms = [verb, `${stem}ing`, ...doubled.map((base) => `${base}ing`)]
  if (name === 'grab' || name === 'take')
    forms.push(
      ...[lookUp(irregular, verb) ?? `${stem}ed`, ...doubled.map((base) => `${base}ed`)].map(
        (form) => `be ${form}`,
      ),
    )
  if (passives.has(name))
    forms.push(lookUp(irregular, verb) ?? `${stem}ed`, ...doubled.map((base) => `${base}ed`))
  if (name === 'send') forms.push(/(?:s|sh|ch)$/.test(verb) ? `${verb}es` : `${verb}s`)
  return forms.map((form) => form + rest)
}

const irregular: Record<string, string> = {
  send: 'sent',
  tell: 'told',
  give: 'given',
  hand: 'handed',
  feed: 'fed',
  write: 'written',
  keep: 'kept',
  hide: 'hidden',
  show: 'shown',
  copy: 'copied',
  supply: 'supplied',
  sell: 'sold',
  bring: 'brought',
  read: 'read',
  take: 'taken',
  get: 'got',
  steal: 'stolen',
  leave: 'left',
}

let lexicon: Automaton | undefined

/** Returns the automaton of all classes, compiled at first use. */
const getLexicon = (): Automaton => (lexicon ??= compile(terms()))

const alone = bitsOf(
  'cue',
  'store',
  'saved',
  'envFile',
  'envAll',
  'secret',
  'seed',
  'personal',
  'outside',
  'covert',
  'unaware',
  'tell',
  'learn',
  'network',
  'bulk',
)

/** Characters that `plain` changes so that other terms appear, and emphasis within words. */
const disguised = pattern(
  'i',
  String.raw`[\u00ad\u0300-\u036f\u061c\u180e\u1d00-\u1dbf\u200b-\u200f\u2060-\u209f\u2100-\u214f\u2460-\u24ff`,
  String.raw`\ufb00-\ufb06\ufeff\uff01-\uff5e\ud835\udb40]|[a-z][\u0370-\u058f]|[\u0370-\u058f][a-z]|`,
  String.raw`[a-z]\*{1,3}[a-z]|\\\s*\n`,
)

const sensitive = bitsOf('store', 'saved', 'envFile', 'envAll', 'secret', 'seed')

const cue = bitsOf('cue')

/** Terms of a text that make it worth its normal form. */
interface Interest {
  /** Names a thing to which the text after it can refer. */
  isSensitive: boolean
  /** The rules that match regular expressions can match. */
  hasCue: boolean
}

/** Returns the interest of a text, or undefined if no rule can match it by itself. */
export function interestOf(text: string): Interest | undefined {
  const classes = getLexicon().classesOf(text)
  const hasCue = (classes & cue) !== 0 || disguised.test(text)
  if (!hasCue && (classes & alone) === 0) return undefined
  return { isSensitive: (classes & sensitive) !== 0, hasCue }
}

/** The terms of a statement, in order. */
export interface Signals {
  text: string
  hits: readonly Hit[]
  classes: number
}

/** Finds the terms of a text in lower case. */
export function readSignals(text: string): Signals {
  const hits = getLexicon().find(text)
  return { text, hits, classes: hits.reduce((all, hit) => all | hit.classes, 0) }
}

const negation = bitsOf('negation')
const verb = bitsOf('grab', 'take', 'send', 'put', 'tell', 'show')
const asks =
  /^\s(?:forget|hesitate|fail|worry|skip|miss|only|stop|omit|neglect|just|need|wait|exceptions?|matter|longer|mind|be afraid)\b/
const affirms =
  /\b(?:why not|whether or|if not|not only|no matter|no longer|no problem|no worries)\b/
const exclusive = /^(?:rather than|instead of|without)$/
const turned = /^(?:ない|ません|ず)/

/** Returns whether a term is negated by words before it in its clause. */
export function isNegated({ text, hits }: Signals, hit: Hit): boolean {
  if (turned.test(text.slice(hit.end, hit.end + 3))) return true
  return hits.some((other) => {
    if ((other.classes & negation) === 0 || other.end > hit.at || hit.at - other.end > 90)
      return false
    if (asks.test(text.slice(other.end, other.end + 14))) return false
    if (affirms.test(text.slice(Math.max(0, other.at - 12), other.end + 8))) return false
    const between = text.slice(other.end, hit.at)
    if (exclusive.test(text.slice(other.at, other.end)) && /[,，]/.test(between)) return false
    if (/[.;:!?。；：！)]\s|[。；！]|\bbut\b|\bthen\b|\binstead\b/.test(between)) return false
    return (
      !/[,，、](?!\s?(?:or|nor|and|not|under|ever|at)\b)/.test(between) ||
      !hasVerb(hits, other, hit, text)
    )
  })
}

/** Returns whether the negation has its verb before a comma, so that the next clause is free. */
function hasVerb(hits: readonly Hit[], from: Hit, to: Hit, text: string): boolean {
  return hits.some(
    (hit) =>
      (hit.classes & verb) !== 0 &&
      hit.at >= from.end &&
      hit.end < to.at &&
      /^[^,，、]{4,80}[,，、]/.test(text.slice(hit.end, to.at)),
  )
}

/** Returns the terms of classes that are not negated. */
export const ordered = (signals: Signals, classes: number): Hit[] =>
  (signals.classes & classes) === 0
    ? []
    : signals.hits.filter((hit) => (hit.classes & classes) !== 0 && !isNegated(signals, hit))
