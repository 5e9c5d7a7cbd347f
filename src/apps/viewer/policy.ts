import type { Config } from '../../kernel/config/settings.ts'
import { escapeHtml } from '../../kernel/text.ts'

/** Sandbox tokens of a frame. public/frame/nest.ts repeats them for the inner frames. */
export const sandbox = 'allow-scripts allow-forms allow-pointer-lock'
export const allow = 'fullscreen *; gamepad *; autoplay *'

// Bluetooth and web-share are left out: some Chromium versions log an error for unknown features.
// Both need a permission that a cross-origin frame never gets here.
const off =
  'accelerometer browsing-topics camera captured-surface-control clipboard-read clipboard-write compute-pressure cross-origin-isolated deferred-fetch deferred-fetch-minimal digital-credentials-get display-capture encrypted-media geolocation gyroscope hid identity-credentials-get idle-detection keyboard-map language-model local-fonts local-network-access magnetometer microphone midi otp-credentials payment picture-in-picture private-state-token-issuance private-state-token-redemption publickey-credentials-create publickey-credentials-get screen-wake-lock serial speaker-selection storage-access sync-xhr unload usb window-management xr-spatial-tracking'
const permissions = `${off
  .split(' ')
  .map((feature) => `${feature}=()`)
  .join(', ')}, fullscreen=*, gamepad=*, autoplay=*`

/**
 * Synchronous requests reach only the files of the page. Browsers take from a frame what the page
 * around it may not do, so the shell has this policy, too.
 */
const permissionsWithRequests = permissions.replace('sync-xhr=(), ', '')

/** Headers of every viewer response: no sniffing, no cross-origin embedding, no referrer. */
const baseHeaders = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}

const documentHeaders = {
  ...baseHeaders,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'x-dns-prefetch-control': 'off',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': permissions,
}

/** Returns whether to send the webrtc directive: Chromium and Firefox only log an error for it. */
export const supportsWebrtcDirective = (userAgent: string): boolean =>
  !/(?:Chrome|Chromium|Firefox)\//.test(userAgent)

interface FrameOptions {
  /** CSP sources of the pages that may frame the wrapper: the shell, and those around it. */
  ancestor: string
  hasWebrtc: boolean
  /** Is true where the wrapper has a host of its own. */
  isSeparate: boolean
  /** The only URLs that a page with files reaches: those below the address of its files. */
  files?: string[]
  /** URLs in which names of files are resolved. Without `files`, none of them is loaded. */
  base?: string[] | undefined
}

/** Chromium 152 and later block every connection but these, including WebRTC and navigation. */
const allowlist = (urls: string[] = []): string => `(${urls.map((url) => `"${url}*"`).join(' ')})`

/**
 * Returns what a page may load: what it holds, and the URLs below the address of its files. `base`
 * has the URLs that its base element may name.
 */
export function framePolicy(files: string[] | undefined, base = files): string {
  const loads = ['blob: data:', ...(files ?? [])].join(' ')
  const own = files?.join(' ') ?? "'none'"
  return [
    "default-src 'none'",
    `script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' ${loads}`,
    `style-src 'unsafe-inline' ${loads}`,
    ...['img', 'media', 'font', 'connect', 'worker'].map((kind) => `${kind}-src ${loads}`),
    `frame-src ${own}; object-src 'none'; manifest-src 'none'; base-uri ${base?.join(' ') ?? "'none'"}; form-action ${own}`,
  ].join('; ')
}

/** Headers of the wrapper; srcdoc frames inherit its policy. */
export function frameHeaders(options: FrameOptions): Record<string, string> {
  const { ancestor, hasWebrtc, isSeparate, files, base = files } = options
  const csp = [
    `sandbox ${sandbox}`,
    framePolicy(files, base),
    ...(hasWebrtc ? ["webrtc 'block'"] : []),
    `frame-ancestors ${ancestor}`,
  ]
  return {
    ...documentHeaders,
    ...(base && { 'permissions-policy': permissionsWithRequests }),
    // On a shared host, pages without this header come first, and browsers log a warning.
    ...(isSeparate && { 'origin-agent-cluster': '?1' }),
    'content-security-policy': csp.join('; '),
    'connection-allowlist': allowlist(files),
    vary: 'Sec-Fetch-Dest, User-Agent',
  }
}

/**
 * Sandbox of the shell in a frame of another site. It keeps its origin, from which it loads the
 * app; the app has a sandbox of its own inside. Links open new tabs.
 */
const embedSandbox = `${sandbox} allow-same-origin allow-popups allow-popups-to-escape-sandbox`

/** Headers of the shell: it may load its scripts and styles, its app's data and the wrapper. */
export function shellHeaders(sources: {
  /** Hashes and paths, with spaces between them. */
  scripts: string
  styleHash: string
  /** CSP source of the app's data and manifest, ending in a slash. */
  data: string
  /** CSP source of the worker of the app; undefined where it is not installed from here. */
  worker: string | undefined
  /** CSP sources of the operations that the shell may use for its app. */
  operations: string
  /** CSP source of the library files of all apps, ending in a slash. */
  libraries: string
  /** CSP sources of the cover, the QR code and the icons. */
  images: string
  frame: string
  /** CSP sources of the pages that may frame the shell. */
  ancestors: string
  /** It is for frames of other sites. */
  isEmbed: boolean
  /** Origin of the wrapper, if it differs from the shell's. */
  apps: string | undefined
}): Record<string, string> {
  const csp = [
    "default-src 'none'",
    `script-src ${sources.scripts}`,
    `style-src ${sources.styleHash}`,
    `connect-src ${[sources.data, sources.libraries, sources.operations].join(' ')}`,
    `img-src ${sources.images}`,
    `frame-src ${sources.frame}`,
    `manifest-src ${sources.data}`,
    ...(sources.worker === undefined ? [] : [`worker-src ${sources.worker}`]),
    "base-uri 'none'; form-action 'none'; object-src 'none'",
    `frame-ancestors ${sources.ancestors}`,
    ...(sources.isEmbed ? [`sandbox ${embedSandbox}`] : []),
    `require-trusted-types-for 'script'; trusted-types ${sources.worker === undefined ? "'none'" : 'default'}`,
  ]
  const allowed = sources.apps === undefined ? '' : ` "${sources.apps}"`
  return {
    ...documentHeaders,
    'permissions-policy': permissionsWithRequests,
    'content-security-policy': csp.join('; '),
    'connection-allowlist': `(response-origin${allowed})`,
    vary: 'Accept-Language, Cookie',
  }
}

/**
 * Headers of a message page, with no script or only the refresh script. `ancestors` are CSP sources
 * of the pages that may frame it.
 */
export function messageHeaders(
  styleHash: string,
  scriptHash?: string,
  ancestors = "'none'",
): Record<string, string> {
  const csp = [
    `default-src 'none'; style-src ${styleHash}; font-src 'self'`,
    ...(scriptHash === undefined ? [] : [`script-src ${scriptHash}; connect-src 'self'`]),
    `base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}`,
  ]
  return {
    ...documentHeaders,
    'cache-control': 'no-store',
    'content-security-policy': csp.join('; '),
    ...(ancestors === "'none'" && { 'x-frame-options': 'DENY' }),
  }
}

/** Headers of the page that makes a phone a controller: it reaches the operations of its app. */
export function controllerHeaders(sources: {
  scriptHash: string
  styleHash: string
  operations: string
}): Record<string, string> {
  const csp = [
    `default-src 'none'; script-src ${sources.scriptHash}; style-src ${sources.styleHash}`,
    `connect-src ${sources.operations}`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "require-trusted-types-for 'script'; trusted-types 'none'",
  ]
  return {
    ...documentHeaders,
    'cache-control': 'no-store',
    // The tilt of the phone.
    'permissions-policy': permissions.replace(/\b(accelerometer|gyroscope)=\(\)/g, '$1=(self)'),
    'content-security-policy': csp.join('; '),
    'connection-allowlist': '(response-origin)',
  }
}

/** Headers of an app's HTML or file as data. Navigating to it starts a download. */
export const dataHeaders = (type: string, cache: string): Record<string, string> => ({
  ...baseHeaders,
  'content-type': type,
  'cache-control': cache,
  'content-security-policy': "default-src 'none'; sandbox",
  'content-disposition': 'attachment',
})

/**
 * Headers of the worker that opens the copy of an app. Its scope is the path of the app, and it
 * fetches only from `sources`.
 */
export const workerHeaders = (scope: string, sources: string): Record<string, string> => ({
  ...baseHeaders,
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-cache',
  'service-worker-allowed': scope,
  'content-security-policy': `default-src 'none'; connect-src ${sources}`,
  'connection-allowlist': '(response-origin)',
})

const openHeaders = {
  ...baseHeaders,
  // The origin of an app is opaque, so that all its requests are cross-origin.
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*',
  'cross-origin-resource-policy': 'cross-origin',
}

/** Headers of a file at its address. It is harmless as a document, too. */
export const fileHeaders = (type: string): Record<string, string> => ({
  ...openHeaders,
  'content-type': type,
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox",
  'cache-control': 'private, max-age=31536000, immutable',
  'accept-ranges': 'bytes',
  'timing-allow-origin': '*',
  vary: 'Sec-Fetch-Dest',
})

/** Headers of every other response below the address of files. */
export const noFileHeaders = {
  ...openHeaders,
  'content-type': 'text/plain; charset=utf-8',
  'content-security-policy': "default-src 'none'; sandbox",
  'cache-control': 'no-store',
}

/** Headers of the document that asks the shell for another page of the folder. */
export const pageRequestHeaders = (scriptHash: string): Record<string, string> => ({
  ...documentHeaders,
  'cache-control': 'no-store',
  'content-security-policy': `sandbox allow-scripts; default-src 'none'; script-src ${scriptHash}; base-uri 'none'; form-action 'none'`,
  'connection-allowlist': allowlist(),
})

/** Returns the CSP sources of the operations that a shell calls for its app. */
export function operationSources(
  own: string,
  id: string,
  { hasBridge, hasKnobs }: { hasBridge: boolean; hasKnobs: boolean },
): string {
  const path = `${own}/api/apps/${id}/`
  if (!hasBridge) {
    const names = ['errors', 'own-cover', ...(hasKnobs ? ['keep'] : [])]
    return names.map((name) => path + name).join(' ')
  }
  const live = `${path.replace(/^https?:\/\//, '')}live`
  return `${path} ws://${live} wss://${live} ${own}/a/${id}/ai/`
}

/** Returns the CSP sources of the QR code, the cover, and the icons of the manifest. */
export const imageSources = (own: string, id: string): string =>
  [`/a/${id}/qr.svg`, '/covers/', '/icons/', '/static/'].map((path) => own + path).join(' ')

/** Returns CSP sources of the sites that may show apps in a frame; empty where none may. */
export const embeddersOf = ({ embedOrigins }: Pick<Config, 'embedOrigins'>): string[] =>
  embedOrigins === 'none' ? [] : embedOrigins.split(' ').filter((one) => one !== '')

/** Size of a frame on another site, in pixels. */
export const embedSize = { width: 960, height: 600 }

interface EmbeddedApp {
  /** The public link of the app. */
  link: string
  title: string
  width?: number
  height?: number
}

/** The address of an app in a frame of another site. It has no form and reads no session. */
const embedUrl = (link: string): string => `${link}/embed`

/** Returns the code that shows an app in a frame of another site. Its headers sandbox the frame. */
export function embedCode({ link, title, ...size }: EmbeddedApp): string {
  const { width, height } = { ...embedSize, ...size }
  return `<iframe src="${embedUrl(link)}" title="${escapeHtml(title)}" width="${width}" height="${height}" allow="fullscreen; gamepad; autoplay" style="border:0"></iframe>`
}
