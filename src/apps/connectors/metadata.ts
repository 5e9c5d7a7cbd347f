import { type Static, Type } from '@sinclair/typebox'

import type { Urls } from '../../kernel/config/load.ts'
import { ApiError } from '../../kernel/errors.ts'
import { keyNameCharsMax, redirectUriCharsMax, redirectUrisMax } from '../../kernel/limits.ts'
import { lenientObject, oneOf, strictObject, TimeSchema } from '../../kernel/schema.ts'
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

const line = (max: number, description?: string) =>
  Type.String({ maxLength: max, ...(description && { description }) })

const ScopeSchema = oneOf(scopes)
const ScopesSchema = Type.Array(ScopeSchema)

/** For clients that check patterns. The operation accepts more (people/connectors/clients.ts). */
const redirectUriPattern = String.raw`^(https://[a-z0-9]+(\.[a-z]+)+|http://(localhost|127\.0\.0\.1)|[a-z]+\.[a-z.]+:)/[\w/-]{0,400}$`

/** The fields of a registration that have a meaning here. Others are ignored (RFC 7591, 2). */
export const RegistrationRequestSchema = Type.Object(
  {
    redirect_uris: Type.Array(Type.String({ described: { pattern: redirectUriPattern } }), {
      described: { minItems: 1, maxItems: redirectUrisMax },
      description:
        'https URLs, http URLs of localhost, 127.0.0.1 or [::1], or URIs with a scheme that has a dot, such as com.example.app:/callback.',
    }),
    client_name: Type.Optional(
      Type.String({
        described: { maxLength: keyNameCharsMax },
        description: 'The name that the person sees.',
      }),
    ),
  },
  {
    additionalProperties: true,
    examples: [{ redirect_uris: ['http://127.0.0.1/callback'], client_name: 'My program' }],
  },
)
export const RegistrationSchema = Type.Object({
  client_id: Type.String(),
  client_id_issued_at: Type.Integer({ description: 'Seconds since 1970.' }),
  client_name: Type.String(),
  redirect_uris: Type.Array(Type.String()),
  grant_types: Type.Array(Type.String()),
  response_types: Type.Array(Type.String()),
  token_endpoint_auth_method: Type.Literal('none'),
})

const ClientIdSchema = line(redirectUriCharsMax, 'An id of a registration, or an https URL.')

/** The fields of a sign-in (RFC 6749, 4.1.1; RFC 7636, 4.3; RFC 8707, 2). */
const authorizationFields = {
  client_id: ClientIdSchema,
  redirect_uri: Type.Optional(line(redirectUriCharsMax)),
  response_type: Type.Optional(line(100)),
  code_challenge: Type.Optional(line(128)),
  code_challenge_method: Type.Optional(line(100)),
  scope: Type.Optional(line(500)),
  state: Type.Optional(line(2_000)),
  resource: Type.Optional(line(500)),
}
const AuthorizationRequestSchema = Type.Object(authorizationFields)
export type AuthorizationRequest = Static<typeof AuthorizationRequestSchema>
export const authorizationFieldNames = Object.keys(authorizationFields)

export const ConnectorRequestSchema = strictObject({
  ...authorizationFields,
  handle: Type.Optional(Type.String({ description: 'One of your agents. Default: a new one.' })),
  allow: Type.Optional(
    Type.Array(ScopeSchema, {
      maxItems: scopes.length,
      description: 'What you allow of what the program asks for. It may always read.',
    }),
  ),
})
export const DenialRequestSchema = strictObject(authorizationFields)
export const RedirectSchema = Type.Object({
  redirect: Type.String({ description: 'The address that gives the program its response.' }),
})
export const ConnectedSchema = Type.Object({
  ...RedirectSchema.properties,
  handle: Type.String({ description: 'The agent as which it acts.' }),
})

/** Clients may send fields of other specifications, which are ignored (RFC 6749, 3.2). */
export const TokenRequestSchema = lenientObject({
  grant_type: line(100, '"authorization_code" or "refresh_token".'),
  client_id: ClientIdSchema,
  code: Type.Optional(line(200)),
  redirect_uri: Type.Optional(line(redirectUriCharsMax)),
  code_verifier: Type.Optional(line(128)),
  refresh_token: Type.Optional(line(200)),
  scope: Type.Optional(line(500)),
  resource: Type.Optional(line(500)),
})
export const TokenSchema = Type.Object({
  access_token: Type.String({ description: 'Works at the MCP endpoint alone.' }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds.' }),
  refresh_token: Type.String({ description: 'Works once. A refresh returns the next one.' }),
  scope: Type.String(),
})

export const RevocationRequestSchema = lenientObject({
  token: line(200),
  token_type_hint: Type.Optional(line(100)),
  client_id: Type.Optional(ClientIdSchema),
})

const ConnectorSchema = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'The name that the program gave itself.' }),
  handle: Type.String({ description: 'The agent as which it acts.' }),
  scopes: ScopesSchema,
  created: TimeSchema,
  used: TimeSchema,
})
export const ConnectorsSchema = Type.Object({ connectors: Type.Array(ConnectorSchema) })
