import type { Urls } from '../../kernel/config/load.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Scope, scopes } from '../../kernel/scopes.ts'

/** The path of the consent page. */
export const consentPath = '/oauth/authorize'

/** The segment after the MCP endpoint where clients must sign in. */
export const connectSegment = '/connect'

const resourceStart = '/.well-known/oauth-protected-resource'

/** The scopes that a client asks for first. Spending is asked for when it is needed. */
export const firstScopes: readonly Scope[] = ['read', 'publish']

/** Returns the metadata of the authorization server (RFC 8414, RFC 9207, RFC 7591). */
export const serverMetadata = ({ app, base }: Urls) => ({
  issuer: app,
  authorization_endpoint: `${app}${consentPath}`,
  token_endpoint: `${base}/oauth/token`,
  registration_endpoint: `${base}/oauth/register`,
  revocation_endpoint: `${base}/oauth/revoke`,
  scopes_supported: scopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  service_documentation: `${app}/docs/api`,
})

/** Returns the path after a host at which the metadata of a resource is (RFC 9728, 3.1). */
export function resourceMetadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource)
  return `${origin}${resourceStart}${pathname.replace(/\/$/, '')}`
}

/** The identifiers of the MCP endpoint: both of its addresses. */
const resourcesOf = ({ mcp }: Urls): string[] => [mcp, mcp + connectSegment]

/** Returns the metadata of the resource whose metadata is at a path; undefined for another path. */
export function resourceMetadata(urls: Urls, path: string) {
  const [first = '', ...others] = resourcesOf(urls)
  const isRoot = path === resourceStart
  const resource = isRoot
    ? first
    : [first, ...others].find((one) => new URL(resourceMetadataUrl(one)).pathname === path)
  return (
    resource && {
      resource,
      authorization_servers: [urls.app],
      scopes_supported: firstScopes,
      bearer_methods_supported: ['header'],
      resource_name: 'Berth',
      resource_documentation: `${urls.app}/docs/api`,
    }
  )
}

/** Throws `invalid_target` for a resource that is not the MCP endpoint (RFC 8707). */
export function checkResource(urls: Urls, resource: string | undefined): void {
  if (resource === undefined) return
  const own = resourcesOf(urls)
  const sent = URL.parse(resource)
  const isOwn = sent && sent.hash === '' && own.some((one) => isSame(new URL(one), sent))
  if (!isOwn) throw new ApiError('invalid_target', { resource: urls.mcp })
}

/** The query of the MCP endpoint only chooses the tools that it lists. */
const isSame = (own: URL, sent: URL): boolean =>
  own.origin === sent.origin && own.pathname.replace(/\/$/, '') === sent.pathname.replace(/\/$/, '')
