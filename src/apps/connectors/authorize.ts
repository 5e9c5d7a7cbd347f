import type { Urls } from '../../kernel/config/load.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { urlsFor } from '../../kernel/http/host.ts'
import { type Scope, scopes as allScopes } from '../../kernel/scopes.ts'
import {
  type Client,
  getClient,
  isRegistered,
  redirectPlace,
  redirectUriProblem,
  withResponse,
} from '../../people/connectors/clients.ts'
import { insertCode } from '../../people/connectors/connectors.ts'
import { parseScopes } from '../../people/connectors/tokens.ts'
import type { Person } from '../../people/people.ts'
import { actAs } from '../owners/owned-agents.ts'
import { type AuthorizationRequest, checkResource } from './metadata.ts'

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
export async function approve(
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
export const deny = (given: ClientRequest): string => respond(given, { error: 'access_denied' })

/** Returns the facts of a request that a page shows. */
export const describeClient = ({ client, redirectUri }: ClientRequest) => ({
  name: client.name,
  place: redirectPlace(redirectUri),
  /** The host that vouches for the name, where the client has a document of metadata. */
  host: client.id.startsWith('https://') ? new URL(client.id).host : undefined,
})
