import { pattern } from '../pattern.ts'

/** Options that use a key or a file of settings for its purpose, and public keys. */
const properUse = pattern(
  'g',
  String.raw`\s(?:-i|-f|--key(?:-file)?|--netrc-file|--env-file|--kubeconfig|--userconfig|--cert|--cacert|`,
  String.raw`identityfile)[\s=]["']?\S{1,120}|\bkubeconfig=\S{1,120}|\S{0,80}\.pub\b|`,
  String.raw`\s-v\s\S{1,120}:\S{1,120}|\bssh-(?:add|keygen|copy-id)\b[^|;&]{0,120}|`,
  String.raw`\.env\.(?:example|sample|template|dist|test)\b|\bcp\s\S{0,60}\.env\b`,
)

const paths = pattern(
  '',
  String.raw`\.ssh\/(?:id_|\*|["'\s)]|$)|\.ssh\b(?!\/)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws\b(?:\/credentials|\/\*|\/?["'\s]|\/?$)|`,
  String.raw`\bapplication_default_credentials|\.config\/gcloud|\.azure\/\w|\.kube\/config|`,
  String.raw`\.docker\/config\.json|\.npmrc\b|\.pypirc\b|\.netrc\b|\.git-credentials\b|\.gnupg\b|`,
  String.raw`\/etc\/shadow\b|\blogin\.keychain|\bcookies\.(?:sqlite|binarycookies)|\blogin data\b|`,
  String.raw`\bkey4\.db\b|\blogins\.json\b|\bwallet\.dat\b|\.config\/solana\/id\.json|\.electrum\b|`,
  String.raw`\bkeystore\/utc|\bnkbihfbeogaeaoehlefnkodbefgpgknn\b|\.claude(?:\.json|\/\.credentials)|`,
  String.raw`\.(?:cursor|codeium|vscode|claude|gemini)\/(?:mcp|mcp_config)\.json|\bclaude_desktop_config|`,
  String.raw`\.codex\/auth\.json|\.openclaw\/(?:\.env|openclaw\.json|credentials)|\.(?:bash|zsh)_history\b|`,
  String.raw`\.config\/gh\/hosts\.yml|\.terraform\.d\/credentials|\.vault-token\b`,
)
const envFile =
  /(?<![\w*.])(?:[\w~$./{}-]{0,60}\/)?\.env(?:\.(?:local|production|prod))?(?![\w./-])/
const environment = pattern(
  '',
  String.raw`\bprintenv\b(?!\s\w)|(?:^|[;&|(]\s?|${'`'})env\s?(?:\|(?!\s?(?:sort|grep|less|head|wc)\b[^|]*$)|>|${'`'}|\))|\benviron\.(?:items|copy)\(|`,
  String.raw`\b(?:dict|str|repr|dumps)\(\s?(?:dict\()?\s?os\.environ\b(?!\[|\.)|=\s?os\.environ\b(?!\[|\.)|`,
  String.raw`json\.stringify\(\s?process\.env\s?[,)]|\.\.\.process\.env\b|\bget-childitem\senv:|`,
  String.raw`\b(?:export|declare) -p\b|\/proc\/(?:self|\d+)\/environ`,
)
const stores = pattern(
  '',
  String.raw`\bsecurity\s(?:find-(?:generic|internet)-password|dump-keychain|export)\b|\bcmdkey\s\/list|`,
  String.raw`\bvaultcmd\b|\bsecretsdump\b|\bmimikatz\b|\blaz?agne\b|\bcryptunprotectdata\b|`,
  String.raw`\bbrowser_?cookie3?\b|\bsecret-tool\s(?:lookup|search)|\bgit credential fill\b|`,
  String.raw`\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b.{0,80}token`,
)

const words = pattern(
  '',
  String.raw`\b(?:api[ -]?keys?|access (?:keys?|tokens?)|auth(?:entication)? tokens?|passwords?|credentials?|`,
  String.raw`secrets?|private keys?|ssh keys?|seed phrases?|recovery phrases?|mnemonics?|cookies?|`,
  String.raw`session tokens?|bearer tokens?|tokens|keychain|environment variables?|env(?:ironment)? vars?|`,
  String.raw`\.env\b|(?:entire|full|whole) environment)`,
)
const privates = pattern(
  '',
  String.raw`\b(?:(?:conversation|chat|message|command|shell|browser) (?:history|log|transcript|context)|transcript|`,
  String.raw`(?:this|the|entire|full|whole) conversation|user'?s? (?:messages?|prompts?|inputs?|requests?|documents?|`,
  String.raw`files?|data|emails?|answers?|queries|contacts)|system prompt|source code|code ?base|`,
  String.raw`(?:entire|whole|full) (?:repository|repo|project|workspace|directory)|clipboard|inbox|`,
  String.raw`all (?:of )?(?:the |their |your )?(?:files|documents|emails|messages|code|data)|`,
  String.raw`(?:file|message|document|email)s?'? contents?|contents? of (?:the|each|every|all|any) \w{0,20}\s?(?:files?|documents?|emails?)|`,
  String.raw`(?:tool|function) (?:results?|outputs?|calls?))\b`,
)

/** Secrets that a statement names. */
export interface Sensitive {
  /** A credential file, a password store, or the whole environment. */
  isPlace: boolean
  isEnvFile: boolean
  /** Words such as "API keys". */
  isWord: boolean
  /** Conversations, documents or source code. */
  isPrivate: boolean
}

/** Returns the secrets that a text in lower case names, apart from their proper use. */
export function readSensitive(text: string): Sensitive {
  const rest = text.replace(properUse, ' ')
  return {
    isPlace: paths.test(rest) || environment.test(rest) || stores.test(rest),
    isEnvFile: envFile.test(rest),
    isWord: words.test(rest),
    isPrivate: privates.test(rest),
  }
}
