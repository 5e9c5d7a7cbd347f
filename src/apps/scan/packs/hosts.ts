import { pattern } from '../../../kernel/text.ts'

const urlMark =
  /\bhttps?:\/\/(?:[^\s/@"'`<>()]{1,80}@)?([^\s/:"'`<>(){}|\\?#]{1,253})[^\s"'`<>)|\\]{0,300}/g

const local = /^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\])/
const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|0x[\da-f]{8}|\d{8,10}|\[[\da-f:]{2,45}\])$/

/** Hosts of pastes, tunnels, request collectors, short links and anonymous uploads. */
const dropHosts = pattern(
  '',
  String.raw`(?:^|\.)(?:webhook\.site|requestbin\.\w+|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|`,
  String.raw`trycloudflare\.com|loca\.lt|serveo\.net|oast\.\w+|interact\.sh|oastify\.com|`,
  String.raw`burpcollaborator\.net|pastebin\.com|rentry\.(?:co|org)|glot\.io|paste\.(?:ee|rs)|`,
  String.raw`hastebin\.com|ghostbin\.\w+|termbin\.com|transfer\.sh|file\.io|0x0\.st|gofile\.io|`,
  String.raw`catbox\.moe|bashupload\.com|bit\.ly|tinyurl\.com|is\.gd|cutt\.ly|t\.ly|beeceptor\.com|`,
  String.raw`requestcatcher\.com|hookdeck\.com|api\.telegram\.org)$|\.onion$`,
)
/** The bot of the user, whose token is a variable. */
const ownBot = /^https:\/\/api\.telegram\.org\/bot[$<{%]/
const discordWebhook = /^https?:\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks\//

/** Installers of well-known projects, by host and start of the path. */
const installers = [
  'astral.sh/uv',
  'awscli.amazonaws.com/',
  'bun.sh/install',
  'claude.ai/install',
  'cli.github.com/',
  'deb.nodesource.com/',
  'deno.land/install.sh',
  'dl.k8s.io/',
  'fly.io/install.sh',
  'fnm.vercel.app/install',
  'get.docker.com',
  'get.helm.sh/',
  'get.k3s.io',
  'get.pnpm.io/install.sh',
  'get.sdkman.io',
  'get.volta.sh',
  'install.python-poetry.org',
  'just.systems/install.sh',
  'mise.run',
  'ollama.com/install.sh',
  'opencode.ai/install',
  'raw.githubusercontent.com/helm/helm/',
  'raw.githubusercontent.com/homebrew/install/',
  'raw.githubusercontent.com/nvm-sh/nvm/',
  'releases.hashicorp.com/',
  'sdk.cloud.google.com',
  'sh.rustup.rs',
  'starship.rs/install.sh',
  'tailscale.com/install.sh',
]

/** Hosts of interfaces that belong to a well-known service. */
const interfaces = pattern(
  '',
  String.raw`(?:^|\.)(?:api\.(?:github|openai|anthropic|stripe|cloudflare|notion|linear|vercel|netlify|slack|hubapi|sendgrid|twilio)\.(?:com|app)|`,
  String.raw`googleapis\.com|graph\.microsoft\.com|slack\.com|sentry\.io|atlassian\.net|huggingface\.co|`,
  String.raw`registry\.npmjs\.org|pypi\.org|github\.com|gitlab\.com)$`,
)

/** URLs of a statement by trust. */
export interface Hosts {
  /** At least one URL, none of them local. */
  remote: boolean
  /** At least one URL, all of a well-known installer. */
  isKnown: boolean
  /** A paste site, tunnel, collector, short link, IP address, or onion service. */
  isDrop: boolean
  /** A URL without encryption that is not local. */
  isPlain: boolean
  /** At least one URL, all of well-known interfaces. */
  isInterface: boolean
}

/** Classifies the URLs of a text in lower case. */
export function readHosts(text: string): Hosts {
  const urls = [...text.matchAll(urlMark)].filter(([, host = '']) => !local.test(host))
  return {
    remote: urls.length > 0,
    isKnown:
      urls.length > 0 &&
      urls.every(
        ([url]) =>
          url.startsWith('https://') &&
          installers.some((known) => startsWithPath(url.slice(8), known)),
      ),
    isDrop: urls.some(
      ([url, host = '']) =>
        (dropHosts.test(host) && !ownBot.test(url)) ||
        address.test(host) ||
        discordWebhook.test(url),
    ),
    isInterface: urls.length > 0 && urls.every(([, host = '']) => interfaces.test(host)),
    isPlain: urls.some(([url]) => url.startsWith('http://')),
  }
}

/** Returns whether a URL without scheme is at a known place, not on a host that begins alike. */
const startsWithPath = (url: string, known: string): boolean =>
  url.startsWith(known) && (known.includes('/') || /^(?:$|[/?#])/.test(url.slice(known.length)))

const destinations = pattern(
  'g',
  String.raw`\b(?:https?|s3|ftps?|sftp|wss?):\/\/[^\s"'<>)\u0060]{1,200}|[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{2,30})+|`,
  String.raw`(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)|`,
  String.raw`(?<![\w./@~$-])(?:[a-z\d][\w-]{0,60}\.){1,4}(?:com|net|org|io|dev|xyz|site|ru|cn|top|info|co|me|app|cc|online|`,
  String.raw`cloud|ai|help|tech|live|zone|club|store|support|page|pro|biz|pw|tk|gg|link|click|de|es|fr|jp|br|uk|eu)\b(?![\w(.-])|`,
  String.raw`(?<![\w./])(?:transfer\.sh|0x0\.st)\b`,
)
const nearby =
  /^(?:\w+:\/\/)?(?:[^/@]{0,40}@)?(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0|169\.254\.|[$<{%]|git@github)/
const isSource = /\b(?:from|see|per|docs?|documentation|source|credit)\b[\w\s:]{0,12}["'`(<]{0,3}$/

/** Returns the offsets of addresses in a text to which something can be sent. */
export function readDestinations(text: string): number[] {
  return [...text.matchAll(destinations)]
    .filter(
      ({ 0: found, index }) =>
        !nearby.test(found) && !isSource.test(text.slice(Math.max(0, index - 40), index)),
    )
    .map(({ index }) => index)
}
