/** Sensitive things by class, as terms of `automaton.ts` between bars. All in lower case. */
export const things = {
  /** Credential files and password stores, by path, command or name. */
  store: [
    'saved passwords|saved password|stored passwords|saved logins|stored logins|saved credentials|privkey*|*/etc/letsencrypt/live*|*/etc/ssl/private*|tdata|msgstore.db|aws credentials|credentials file|credential file|credentials files|ssh identity|ssh identities|host keys|key material|*/etc/ssh/ssh_host*|\'id_*\'|"id_*"|cookie database|keychain database|login database|.ssh/id_*|.ssh/*|*/.ssh|id_rsa|id_ed25519|id_ecdsa|id_dsa|.gnupg|.gnupg/*|*.aws/credentials|*.aws/*|~/.aws|*/.aws',
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
    'serviceaccount/token|sam hive|hklm/sam|ntds.dit|/etc/sudoers|wsl_credentials|winscp.ini|filezilla/sitemanager.xml|recentservers.xml|rclone.conf|signal/config.json',
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
    'printenv|os.environ|os.environ.items|os.environ.copy|json.stringify(process.env)|json.stringify(process.env,|...process.env|object.entries(process.env*|object.keys(process.env*|for (const name in process.env',
    'tojson(secrets)|tojson(env)|get-childitem env:|gci env:|dir env:|ls env:|export -p|declare -p|declare -x|/proc/self/environ|$(env)|`env`|system.getenv()|env::vars()|env.to_h|$_env)',
    'whole environment|entire environment|complete environment|full environment|all environment variables|every environment variable|environment variables of the|variables of the current shell|variables of the shell|contents of the environment',
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
    "conversation|conversations|transcript|transcripts|chat history|chat log|chat logs|message history|command history|shell history|browser history|browsing history|system prompt|system prompts|clipboard|inbox|user's messages|user's prompts|user's data|user's emails|user's mails|all prompts|address book|messages database|bank statement|bank statements|medical records|card numbers|keystrokes|what was said|what is said|everything people|everything they|anything they|entire checkout|whole checkout|every source file|all source files|all source|source files|screen recordings|everything the user|whatever the user|anything the user|user's answers|user's questions|user's input|user's contacts|user's calendar|user's location|user's code|user's photos",
    'alle dateien|todos los archivos|tous les fichiers|所有文件|全部文件|все файлы|すべてのファイル|todos os arquivos|tutti i file|对话|聊天记录|переписку|conversación|gespräch|会話|unterhaltung|conversa|conversazione',
  ],
  /** Documents, which matter if all of them, or those of the user, are sent. */
  document: [
    'documents|folder|folders|directories|files|photos|pictures|contacts|messages|mails|emails|invoice|invoices|spreadsheet|spreadsheets|customers|customer data|attachments|pdfs|notes|prompts|prompt|questions|screenshots|records|phone numbers|names|addresses|calendar|recordings',
  ],
} as const satisfies Record<string, readonly string[]>
