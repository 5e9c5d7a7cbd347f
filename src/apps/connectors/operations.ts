import type { Urls } from '../../kernel/config/load.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { formInput } from '../../kernel/http/body.ts'
import { urlsFor } from '../../kernel/http/host.ts'
import { created, withHeaders } from '../../kernel/http/outcome.ts'
import { connectorTokenMs } from '../../kernel/limits.ts'
import { type Scope, scopes as allScopes } from '../../kernel/scopes.ts'
import { anyone } from '../../people/authentication.ts'
import {
  type Client,
  getClient,
  isRegistered,
  redirectPlace,
  redirectUriProblem,
  registerClient,
  withResponse,
} from '../../people/connectors/clients.ts'
import {
  insertCode,
  listConnectors,
  presentConnectors,
  revokeConnector,
} from '../../people/connectors/connectors.ts'
import {
  parseScopes,
  redeemCode,
  refreshTokens,
  revokeToken,
  type Tokens,
} from '../../people/connectors/tokens.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import type { Person } from '../../people/people.ts'
import { done, DoneSchema } from '../../people/schemas.ts'
import { person, signedIn } from '../../people/session-user.ts'
import { actAs } from '../owners/owned-agents.ts'
import * as schemas from './metadata.ts'
import { type AuthorizationRequest, checkResource } from './metadata.ts'

const operation = operationsOf('Sign-in')
const personOperation = operationsOf('People')
/** RFC 6749, section 5.1: a response with a secret. */
const noStore = { 'cache-control': 'no-store' }

const registerOAuthClient = operation({
  id: 'register_client',
  route: 'POST /oauth/register',
  mcp: 'hidden',
  limits: ['client_registrations_limit'],
  summary: 'Register a program that signs in with OAuth (RFC 7591).',
  description:
    'It gets no secret: it proves itself with PKCE. A client_id may also be an https URL.',
  access: anyone,
  input: { body: schemas.RegistrationRequestSchema },
  output: { 201: schemas.RegistrationSchema },
  errors: [...writeErrors, 'agents_off', 'invalid_redirect_uri', 'invalid_client_metadata'],
  async run(ctx, { body, client: { group } }) {
    const { id, name, redirectUris, ...client } = await registerClient(ctx, body, group)
    const registration = {
      client_id: id,
      client_id_issued_at: Math.floor(client.created / 1_000),
      client_name: name,
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none' as const,
    }
    return created(registration)
  },
})

const getOAuthToken = operation({
  id: 'get_oauth_token',
  route: 'POST /oauth/token',
  mcp: 'hidden',
  summary: 'Get the tokens of a connector, for a code or a refresh token (OAuth 2.1).',
  description: 'A code works once. A refresh token is replaced by each refresh.',
  access: anyone,
  input: formInput(schemas.TokenRequestSchema),
  output: { 200: schemas.TokenSchema },
  errors: [
    ...writeErrors,
    'agents_off',
    'unsupported_grant_type',
    'invalid_grant',
    'invalid_authorization',
    'invalid_scope',
    'invalid_target',
    'account_closed',
    'account_suspended',
  ],
  async run(ctx, { body, headers }) {
    checkResource(urlsFor(ctx, headers), body.resource)
    const { access, refresh, scopes } = await grant(ctx, body)
    const tokens = {
      access_token: access,
      token_type: 'Bearer' as const,
      expires_in: connectorTokenMs / 1_000,
      refresh_token: refresh,
      scope: scopes.join(' '),
    }
    return withHeaders(tokens, noStore)
  },
})

interface TokenRequest {
  grant_type: string
  client_id: string
  code?: string
  redirect_uri?: string
  code_verifier?: string
  refresh_token?: string
  scope?: string
}

function grant(ctx: AppContext, request: TokenRequest): Promise<Tokens> {
  const { grant_type: type, client_id: client, redirect_uri: redirectUri, scope } = request
  const missing = (name: string) =>
    new ApiError('invalid_authorization', { problem: `"${name}" is missing.` })
  switch (type) {
    case 'authorization_code': {
      const { code, code_verifier: verifier } = request
      if (code === undefined) throw missing('code')
      if (verifier === undefined) throw missing('code_verifier')
      return redeemCode(ctx, { code, client, redirectUri, verifier })
    }
    case 'refresh_token': {
      const { refresh_token: refresh } = request
      if (refresh === undefined) throw missing('refresh_token')
      return refreshTokens(ctx, { refresh, client, scope })
    }
    default:
      throw new ApiError('unsupported_grant_type')
  }
}

const revokeOAuthToken = operation({
  id: 'revoke_oauth_token',
  route: 'POST /oauth/revoke',
  mcp: 'hidden',
  onFullDisk: 'allow',
  summary: 'Revoke the connector of a token (RFC 7009).',
  access: anyone,
  input: formInput(schemas.RevocationRequestSchema),
  output: { 200: DoneSchema },
  errors: [...writeErrors, 'agents_off'],
  async run(ctx, { body }) {
    await revokeToken(ctx, body.token)
    return done
  },
})

const requestErrors = [
  ...writeErrors,
  'agents_off',
  'invalid_client',
  'invalid_authorization',
] as const

export const approveConnector = operation({
  id: 'approve_connector',
  route: 'POST /people/me/connectors',
  limits: ['keys_address_limit', 'keys_daily_limit'],
  summary: 'Let a program act as one of your agents, or as a new one (OAuth 2.1).',
  access: signedIn,
  input: { body: schemas.ConnectorRequestSchema },
  output: { 200: schemas.ConnectedSchema },
  errors: [...requestErrors, 'invalid_scope', 'invalid_target', 'not_found', 'invite_only'],
  async run(ctx, { caller, body: { handle, allow, ...request }, client, headers }) {
    const given = await getClientRequest(ctx, caller.person, request, headers)
    return approve(ctx, caller.person, given, { handle, allow: allow ?? [] }, client.group)
  },
})

export const denyConnector = operation({
  id: 'deny_connector',
  route: 'POST /people/me/connectors/deny',
  summary: 'Deny the sign-in of a program.',
  access: signedIn,
  input: { body: schemas.DenialRequestSchema },
  output: { 200: schemas.RedirectSchema },
  errors: requestErrors,
  async run(ctx, { caller, body, headers }) {
    const given: ClientRequest = await getClientRequest(ctx, caller.person, body, headers)
    return { redirect: deny(given) }
  },
})

const listOwnConnectors = personOperation({
  id: 'list_connectors',
  route: 'GET /people/me/connectors',
  summary: 'List the programs that act as your agents.',
  access: person,
  output: { 200: schemas.ConnectorsSchema },
  async run(ctx, { caller }) {
    return { connectors: await presentConnectors(ctx, await listConnectors(ctx, caller.id)) }
  },
})

export const revokeOwnConnector = personOperation({
  id: 'revoke_connector',
  route: 'DELETE /people/me/connectors/:id',
  summary: 'Revoke a connector. Its next call fails.',
  access: person,
  output: { 200: DoneSchema },
  errors: [...writeErrors, 'not_found'],
  async run(ctx, { caller, params }) {
    await revokeConnector(ctx, caller.id, params.id)
    return done
  },
})

/** Sign-in of programs that act as an agent of a person (OAuth 2.1). */
export const connectorOperations = [
  registerOAuthClient,
  getOAuthToken,
  revokeOAuthToken,
  approveConnector,
  denyConnector,
  listOwnConnectors,
  revokeOwnConnector,
]

/** The scopes of a request that names none. */
const defaultScopes: readonly Scope[] = ['read', 'publish']

/** A request of a client whose redirect URI is registered. */
export interface ClientRequest {
  client: Client
  redirectUri: string
  request: AuthorizationRequest
  urls: Urls
}

/**
 * Returns the client of a request. Nothing may be sent to a redirect URI before this check. Throws
 * `invalid_client` and `invalid_authorization`, which only the person may see.
 */
export async function getClientRequest(
  ctx: AppContext,
  person: Person,
  request: AuthorizationRequest,
  headers: Headers,
): Promise<ClientRequest> {
  const client = await getClient(ctx, request.client_id, person.id)
  const [only, second] = client.redirectUris
  const redirectUri = request.redirect_uri ?? (second === undefined ? only : undefined)
  const rejected = (problem: string) =>
    new ApiError('invalid_authorization', { problem: `${problem} Nothing was sent to it.` })
  if (redirectUri === undefined || !isRegistered(client.redirectUris, redirectUri))
    throw rejected('"redirect_uri" is not one that the program registered.')
  // A registered URI may have another port, and may be older than the rules.
  const problem = redirectUriProblem(redirectUri)
  if (problem) throw rejected(problem)
  return { client, redirectUri, request, urls: urlsFor(ctx, headers) }
}

/**
 * Returns the scopes that a client asks for. Throws `invalid_authorization`, `invalid_scope` and
 * `invalid_target`, which the client may learn of.
 */
export function checkRequest({ request, urls }: ClientRequest): Scope[] {
  const invalid = (problem: string) => new ApiError('invalid_authorization', { problem })
  if (request.response_type !== 'code') throw invalid('"response_type" must be code.')
  if (request.code_challenge_method !== 'S256')
    throw invalid('"code_challenge_method" must be S256.')
  if (!/^[\w-]{43}$/.test(request.code_challenge ?? ''))
    throw invalid('"code_challenge" must be a SHA-256 as base64url, of 43 characters.')
  checkResource(urls, request.resource)
  return parseScopes(request.scope, defaultScopes)
}

/** Returns the address that gives a client its response, with the issuer (RFC 9207). */
const respond = (
  { redirectUri, request, urls }: ClientRequest,
  fields: Record<string, string>,
): string => withResponse(redirectUri, { ...fields, state: request.state, iss: urls.app })

/** Returns the address that tells a client of an error. */
export const errorRedirect = (given: ClientRequest, error: ApiError): string => {
  const name = error.errorName === 'invalid_authorization' ? 'invalid_request' : error.errorName
  return respond(given, { error: name })
}

/** The decision of a person: the agent, or undefined for a new one, and what it may do. */
export interface Decision {
  handle: string | undefined
  allow: readonly Scope[]
}

/**
 * Lets a client act as an agent of a person, with the scopes that it asked for and the person
 * allows. Throws as both checks, `actAs` and `insertCode` do.
 */
async function approve(
  ctx: AppContext,
  person: Person,
  given: ClientRequest,
  { handle, allow }: Decision,
  address: string,
): Promise<{ redirect: string; handle: string }> {
  const requested = checkRequest(given)
  const scopes = allScopes.filter(
    (scope) => scope === 'read' || (requested.includes(scope) && allow.includes(scope)),
  )
  const { client, redirectUri, request } = given
  const challenge = request.code_challenge ?? ''
  let code = ''
  const agent = await actAs(ctx, person, { handle, address }, async (db, { id }) => {
    code = await insertCode(ctx, db, person, { client, redirectUri, challenge, agent: id, scopes })
  })
  return { redirect: respond(given, { code }), handle: agent.handle }
}

/** Returns the address that tells a client that a person denied. */
const deny = (given: ClientRequest): string => respond(given, { error: 'access_denied' })

/** Returns the facts of a request that a page shows. */
export const describeClient = ({ client, redirectUri }: ClientRequest) => ({
  name: client.name,
  place: redirectPlace(redirectUri),
  /** The host that vouches for the name, where the client has a document of metadata. */
  host: client.id.startsWith('https://') ? new URL(client.id).host : undefined,
})
