import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { formInput } from '../../kernel/http/body.ts'
import { urlsFor } from '../../kernel/http/host.ts'
import { created, withHeaders } from '../../kernel/http/outcome.ts'
import { connectorTokenMs } from '../../kernel/limits.ts'
import { anyone } from '../../people/authentication.ts'
import { registerClient } from '../../people/connectors/clients.ts'
import {
  listConnectors,
  presentConnectors,
  revokeConnector,
} from '../../people/connectors/connectors.ts'
import {
  redeemCode,
  refreshTokens,
  revokeToken,
  type Tokens,
} from '../../people/connectors/tokens.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import { done, DoneSchema } from '../../people/schemas.ts'
import { person, signedIn } from '../../people/session-user.ts'
import { approve, type ClientRequest, deny, getClientRequest } from './authorize.ts'
import * as schemas from './metadata.ts'
import { checkResource } from './metadata.ts'

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
