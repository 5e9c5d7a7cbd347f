import type { CustomFetch, IDToken, UserInfoResponse } from 'openid-client'

import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { anyNetwork, fetchGuarded } from '../kernel/fetch.ts'
import { sign } from '../kernel/ids.ts'
import {
  identityResponseBytesMax,
  identityTimeoutMs,
  personNameCharsMax,
  providedGroupsMax,
} from '../kernel/limits.ts'
import type { IdentityProvider } from '../kernel/state/process-state.ts'
import { isPlainLine, messageOf } from '../kernel/text.ts'
import { isGroupName } from './schemas.ts'
import { consumeTicket, createTicket } from './tickets.ts'

/** An account at the provider, identified by issuer and subject together. */
export interface Identity {
  issuer: string
  subject: string
  /** Names from the provider, the preferred first. */
  names: string[]
  /** Groups from the claim `groups`; undefined where the provider sends none. */
  groups?: string[] | undefined
}

/** The path of the redirect URI, which must be registered at the provider. */
export const callbackPath = '/sign-in/oidc/back'
const redirectUri = ({ urls }: AppContext): string => urls.app + callbackPath

const clockToleranceSeconds = 30

/** Loaded with the first sign-in by a provider. */
const library = () => import('openid-client')
type Library = IdentityProvider['client']

/** Returns the provider's name for the sign-in button; undefined without a provider. */
export function providerName({ config }: AppContext): string | undefined {
  return config.oidcIssuer && !config.personHeader ? config.oidcName : undefined
}

/** Fetches any address, since the operator configures it, with limits on time and size. */
const fetchFor =
  (ctx: AppContext): CustomFetch =>
  async (url, { method, headers, body, signal = new AbortController().signal }) => {
    const init = { method, headers, ...(body instanceof URLSearchParams && { body: `${body}` }) }
    const bounds = { bytesMax: identityResponseBytesMax, ms: identityTimeoutMs, redirectsMax: 0 }
    const response = await fetchGuarded(url, init, bounds, signal, anyNetwork).catch(
      (error: unknown) => failUnavailable(ctx, error),
    )
    return response.status < 500
      ? response
      : failUnavailable(ctx, new Error(`status ${response.status}`))
  }

function failUnavailable(ctx: AppContext, error: unknown): never {
  ctx.log.warn('the sign-in provider is not responding', { error: messageOf(error) })
  throw new ApiError('provider_silent')
}

async function discover(ctx: AppContext): Promise<IdentityProvider> {
  const { oidcIssuer, oidcClientId, oidcClientSecret: secret } = ctx.config
  const client = await library()
  const { allowInsecureRequests, enableNonRepudiationChecks } = client
  const isPlain = oidcIssuer.startsWith('http:')
  const metadata = { [client.clockTolerance]: clockToleranceSeconds }
  const config = await client.discovery(
    new URL(oidcIssuer),
    oidcClientId,
    metadata,
    // A provider that lists no methods supports client_secret_basic (Discovery 1.0, 3).
    (server, ...rest) => {
      const supportsPost =
        server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
      const { None, ClientSecretBasic, ClientSecretPost } = client
      const scheme = secret ? (supportsPost ? ClientSecretPost : ClientSecretBasic)(secret) : None()
      return scheme(server, ...rest)
    },
    {
      [client.customFetch]: fetchFor(ctx),
      execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
    },
  )
  return { client, config }
}

/** Returns the provider, discovered with the first sign-in. Throws `provider_silent`. */
const getProvider = (ctx: AppContext): Promise<IdentityProvider> =>
  ctx.state.identityProvider.get(() =>
    discover(ctx).catch((error: unknown) => {
      throw findApiError(error) ?? failUnavailable(ctx, error)
    }),
  )

/** Finds our error as a cause: the library wraps errors of fetch. */
function findApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  return error instanceof Error && error.cause ? findApiError(error.cause) : undefined
}

const ticketPurpose = (holder: string): string => `oidc ${holder}`

/** Derives the secrets of a state, so none is stored. */
const secretsOf = (ctx: AppContext, state: string) => ({
  verifier: sign(ctx.secret, `verifier ${state}`),
  nonce: sign(ctx.secret, `nonce ${state}`),
})

/**
 * Returns the URL that starts a sign-in (OpenID Connect Core 1.0, 3.1, with PKCE). `holder`
 * identifies the browser. Throws `provider_silent`.
 */
export async function authorizationUrl(ctx: AppContext, holder: string): Promise<string> {
  const { client, config } = await getProvider(ctx)
  const state = createTicket(ctx, ticketPurpose(holder))
  const { verifier, nonce } = secretsOf(ctx, state)
  return client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri(ctx),
    scope: 'openid profile email',
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).href
}

/**
 * Returns the identity from a callback; each state works once. Throws `sign_in_stale` if this
 * browser did not start the sign-in, `provider_silent` and `no_provider`.
 */
export async function getIdentity(
  ctx: AppContext,
  holder: string,
  query: URLSearchParams,
): Promise<Identity> {
  const state = query.get('state') ?? ''
  await ctx.db.tx((db) => consumeTicket(ctx, db, ticketPurpose(holder), state))
  const { client, config } = await getProvider(ctx)
  const { verifier, nonce } = secretsOf(ctx, state)
  const url = new URL(`${redirectUri(ctx)}?${query}`)
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
  try {
    const tokens = await client.authorizationCodeGrant(config, url, checks)
    const claims = tokens.claims()
    if (!claims) throw new Error('no claims')
    const names = namesIn(claims)
    if (names.length === 0 && config.serverMetadata().userinfo_endpoint !== undefined) {
      names.push(...namesIn(await client.fetchUserInfo(config, tokens.access_token, claims.sub)))
    }
    return identityOf(claims, names)
  } catch (error) {
    throw findApiError(error) ?? providerError(ctx, client, error)
  }
}

const namesIn = ({ preferred_username, email }: IDToken | UserInfoResponse): string[] =>
  [preferred_username, email].filter(
    (name): name is string => typeof name === 'string' && isPlainLine(name, personNameCharsMax),
  )

const subjectCharsMax = 255

/** Reads the claim `groups`, an array of names. Names that no group can have are left out. */
function groupsIn({ groups }: IDToken): string[] | undefined {
  if (!Array.isArray(groups)) return undefined
  const names = groups.filter((name) => typeof name === 'string' && isGroupName(name))
  return [...new Set(names.map(String))].slice(0, providedGroupsMax)
}

function identityOf(claims: IDToken, names: string[]): Identity {
  const { iss: issuer, sub: subject } = claims
  if (!isPlainLine(subject, subjectCharsMax)) throw new Error('the subject is malformed')
  return { issuer, subject, names, groups: groupsIn(claims) }
}

/** Returns `no_provider` with the error code of the provider. Other details go to the log. */
function providerError(ctx: AppContext, client: Library, error: unknown): ApiError {
  const isCoded =
    error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError
  const code = isCoded && /^[a-z_]{1,40}$/.test(error.error) ? error.error : undefined
  ctx.log.warn('the sign-in provider was not trusted', { error: messageOf(error), code })
  return new ApiError('no_provider', { why: code ?? 'its response cannot be verified' })
}
