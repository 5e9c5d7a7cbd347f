/** The headers that make the sandbox. */

/** What a frame may do; the same words stand in public/frame/nest.ts for the levels below. */
export const sandbox = 'allow-scripts allow-forms allow-pointer-lock'
export const allow = 'fullscreen *; gamepad *; autoplay *'

// Bluetooth and web-share are not named: not every Chromium knows them, and one that does not says
// so in the console. Both need leave that a frame of another origin is never given here.
const off =
  'accelerometer browsing-topics camera captured-surface-control clipboard-read clipboard-write compute-pressure cross-origin-isolated deferred-fetch deferred-fetch-minimal digital-credentials-get display-capture encrypted-media geolocation gyroscope hid identity-credentials-get idle-detection keyboard-map language-model local-fonts local-network-access magnetometer microphone midi otp-credentials payment picture-in-picture private-state-token-issuance private-state-token-redemption publickey-credentials-create publickey-credentials-get screen-wake-lock serial speaker-selection storage-access sync-xhr unload usb window-management xr-spatial-tracking'
const permissions = `${off
  .split(' ')
  .map((feature) => `${feature}=()`)
  .join(', ')}, fullscreen=*, gamepad=*, autoplay=*`

/** For everything the viewer answers: no sniffing, no embedding elsewhere, no early look-ups. */
const quiet = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}

const document = {
  ...quiet,
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'x-dns-prefetch-control': 'off',
  'cross-origin-opener-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy': permissions,
}

/** Whether a browser has the webrtc directive: these have none, and only log an error for it. */
export const knowsWebrtc = (userAgent: string): boolean =>
  !/(?:Chrome|Chromium|Firefox)\//.test(userAgent)

/** The wrapper. `ancestor` is the one source that may frame it; srcdoc levels inherit the rest. */
export function frameHeaders(ancestor: string, hasWebrtc: boolean): Record<string, string> {
  const csp = [
    `sandbox ${sandbox}`,
    "default-src 'none'",
    "script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:",
    "style-src 'unsafe-inline' blob: data:",
    ...['img', 'media', 'font', 'connect', 'worker'].map((kind) => `${kind}-src blob: data:`),
    ...['frame-src', 'object-src', 'manifest-src', 'base-uri', 'form-action'].map(
      (directive) => `${directive} 'none'`,
    ),
    ...(hasWebrtc ? ["webrtc 'block'"] : []),
    `frame-ancestors ${ancestor}`,
  ]
  return {
    ...document,
    'content-security-policy': csp.join('; '),
    // Chromium from 152 on then opens no connection at all, WebRTC and navigations included.
    'connection-allowlist': '()',
    vary: 'Sec-Fetch-Dest, User-Agent',
  }
}

/** The shell: one script, one style, its own app's data and the wrapper; nothing else. */
export function shellHeaders(facts: {
  scriptHash: string
  styleHash: string
  /** Source of the app's data, ending in a slash. */
  data: string
  /** Source of the wrapper. */
  frame: string
  /** The wrapper's origin, where it is not the shell's. */
  apps: string | undefined
}): Record<string, string> {
  const csp = [
    "default-src 'none'",
    `script-src ${facts.scriptHash}`,
    `style-src ${facts.styleHash}`,
    `connect-src ${facts.data}`,
    `frame-src ${facts.frame}`,
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
    "require-trusted-types-for 'script'; trusted-types 'none'",
  ]
  const allowed = facts.apps === undefined ? '' : ` "${facts.apps}"`
  return {
    ...document,
    'content-security-policy': csp.join('; '),
    'connection-allowlist': `(response-origin${allowed})`,
    'x-frame-options': 'DENY',
  }
}

/** A page of ours that says one thing: it has no script, or the one that asks for it again. */
export function wordHeaders(styleHash: string, scriptHash?: string): Record<string, string> {
  const csp = [
    `default-src 'none'; style-src ${styleHash}`,
    ...(scriptHash === undefined ? [] : [`script-src ${scriptHash}; connect-src 'self'`]),
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ]
  return {
    ...document,
    'cache-control': 'no-store',
    'content-security-policy': csp.join('; '),
    'x-frame-options': 'DENY',
  }
}

/** An app's page or file as data. Opened as a page it is a download, and inert even then. */
export const dataHeaders = (type: string, cache: string): Record<string, string> => ({
  ...quiet,
  'content-type': type,
  'cache-control': cache,
  'content-security-policy': "default-src 'none'; sandbox",
  'content-disposition': 'attachment',
})
