import { redirectUriCharsMax } from '../../kernel/limits.ts'

/** A scheme with a dot, as programs choose (RFC 8252, 7.1), or that of a known MCP client. */
const programScheme =
  /^(?:[a-z][a-z\d+-]*\.[a-z\d+.-]+|claude|code-oss|cursor|goose|kiro|lmstudio|raycast|trae|vscode|vscode-insiders|vscodium|warp|windsurf|zed):/

/** An https URL whose host is safe in a policy. */
const webUrl = /^https:\/\/[\w.-]+(?::\d{1,5})?(?:[/?]|$)/

/** A loopback URL: its host, its port, and the rest. */
const loopback = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(\/[!-~]*)?$/

/**
 * Returns the problem of a redirect URI. It is an https URL, an http URL of the same computer, or
 * has a scheme of a program (RFC 8252, 7). Other schemes may open dangerous programs.
 */
export function redirectUriProblem(text: string): string | undefined {
  const name = 'A redirect URI'
  if (!/^[!-~]+$/.test(text) || text.length > redirectUriCharsMax)
    return `${name} has at most ${redirectUriCharsMax} ASCII characters without spaces.`
  const url = URL.parse(text)
  if (!url || !/^[a-z][a-z\d+.-]*:/.test(text) || text.includes('\\'))
    return `${name} is an absolute URL with a scheme in lower case.`
  if (text.includes('#')) return `${name} has no fragment.`
  if (url.username || url.password) return `${name} has no user name.`
  if ([loopback, webUrl, programScheme].some((form) => form.test(text))) return undefined
  return `${name} of this form is not safe. Use https with a plain host, http of localhost, 127.0.0.1 or [::1], or a scheme with a dot, such as com.example.app:/callback.`
}

/** Returns whether a redirect URI is registered, up to the port of loopback (RFC 8252, 7.3). */
export const isRegistered = (uris: readonly string[], sent: string): boolean =>
  uris.some((uri) => uri === sent || (loopback.test(sent) && portless(uri) === portless(sent)))

const portless = (uri: string): string => uri.replace(loopback, '$1$2')

/** Returns the place where a redirect URI leads, as a person reads it. */
export function redirectPlace(uri: string): string {
  const { protocol, host } = new URL(uri)
  if (loopback.test(uri)) return `a program on this computer (${host})`
  return protocol === 'https:' ? host : `the program that opens ${protocol} links`
}

/** Returns the source of a policy by which a form may lead to a redirect URI. */
export function redirectSource(uri: string): string {
  const { protocol, host, hostname } = new URL(uri)
  // A policy has no form for the addresses of IPv6.
  const isPlain = /^https?:$/.test(protocol) && !hostname.startsWith('[')
  return isPlain ? `${protocol}//${host}` : protocol
}

/** Adds the fields of a response to a redirect URI (RFC 6749, 4.1.2). */
export function withResponse(uri: string, fields: Record<string, string | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) query.set(name, value)
  }
  return `${uri}${uri.includes('?') ? '&' : '?'}${query}`
}
