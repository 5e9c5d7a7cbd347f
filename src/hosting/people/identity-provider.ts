import type { CustomFetch, IDToken, UserInfoResponse } from 'openid-client'

import type { AppContext } from '../../context.ts'
import { anywhere, fetchGuarded } from '../../core/fetch.ts'
import { sign } from '../../core/ids.ts'
import { isPlainLine, messageOf } from '../../core/text.ts'
import { ApiError } from '../../errors.ts'
import { personNameCharsMax, providerAnswerBytesMax, providerMs } from '../../limits.ts'
import type { IdentityProvider } from '../../state/process-state.ts'
import { createTicket, consumeTicket } from './tickets.ts'

/** Who somebody is at the provider: issuer and subject together, and nothing else, tell. */
export interface Identity {
  issuer: string
  subject: string
  /** What the provider calls them, the best first. */
  names: string[]
}

/** Where the provider sends browsers back to; it must know this address. */
export const callbackPath = '/sign-in/oidc/back'
const backAddress = ({ urls }: AppContext): string => urls.app + callbackPath

const clockToleranceSeconds = 30

/** Only who signs in elsewhere needs it. */
const library = () => import('openid-client')
type Library = IdentityProvider['client']

/** What sign-in elsewhere is called on its button; undefined where there is none. */
export function providerName({ config }: AppContext): string | undefined {
  return config.oidcIssuer && !config.personHeader ? config.oidcName : undefined
}

/** The operator chose the address, so it may be anywhere; answers and waits are bounded. */
const fetchFor =
  (ctx: AppContext): CustomFetch =>
  async (url, { method, headers, body, signal = new AbortController().signal }) => {
    const init = { method, headers, ...(body instanceof URLSearchParams && { body: `${body}` }) }
    const bounds = { bytesMax: providerAnswerBytesMax, ms: providerMs, redirectsMax: 0 }
    const answer = await fetchGuarded(url, init, bounds, signal, anywhere).catch((error: unknown) =>
      silent(ctx, error),
    )
    return answer.status < 500 ? answer : silent(ctx, new Error(`status ${answer.status}`))
  }

function silent(ctx: AppContext, error: unknown): never {
  ctx.log.warn('the sign-in provider does not answer', { said: messageOf(error) })
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
    // Where a provider does not say what it takes, that is the basic scheme (Discovery 1.0, 3).
    (server, ...rest) => {
      const takesPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
      const { None, ClientSecretBasic, ClientSecretPost } = client
      const scheme = secret ? (takesPost ? ClientSecretPost : ClientSecretBasic)(secret) : None()
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
const theProvider = (ctx: AppContext): Promise<IdentityProvider> =>
  ctx.state.identityProvider.get(() =>
    discover(ctx).catch((error: unknown) => {
      throw refusalIn(error) ?? silent(ctx, error)
    }),
  )

/** The library wraps what the network threw. */
function refusalIn(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  return error instanceof Error && error.cause ? refusalIn(error.cause) : undefined
}

const purposeOf = (holder: string): string => `oidc ${holder}`

/** Never kept and never sent before it is asked for: only we can make them of a state. */
const secretsOf = (ctx: AppContext, state: string) => ({
  verifier: sign(ctx.secret, `verifier ${state}`),
  nonce: sign(ctx.secret, `nonce ${state}`),
})

/**
 * Where a browser goes to sign in elsewhere (OpenID Connect Core 1.0, 3.1, with PKCE). `holder` is
 * the browser. Refuses provider_silent.
 */
export async function authorizationUrl(ctx: AppContext, holder: string): Promise<string> {
  const { client, config } = await theProvider(ctx)
  const state = createTicket(ctx, purposeOf(holder))
  const { verifier, nonce } = secretsOf(ctx, state)
  return client.buildAuthorizationUrl(config, {
    redirect_uri: backAddress(ctx),
    scope: 'openid profile email',
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).href
}

/**
 * Who came back from there, once for each state. Refuses sign_in_stale for what this browser did
 * not begin, provider_silent, no_provider.
 */
export async function getIdentity(
  ctx: AppContext,
  holder: string,
  query: URLSearchParams,
): Promise<Identity> {
  const state = query.get('state') ?? ''
  await ctx.db.tx((db) => consumeTicket(ctx, db, purposeOf(holder), state))
  const { client, config } = await theProvider(ctx)
  const { verifier, nonce } = secretsOf(ctx, state)
  const url = new URL(`${backAddress(ctx)}?${query}`)
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
  try {
    const tokens = await client.authorizationCodeGrant(config, url, checks)
    const claims = tokens.claims()
    if (!claims) throw new Error('no claims')
    const names = namesIn(claims)
    const isAsked = names.length === 0 && config.serverMetadata().userinfo_endpoint !== undefined
    const more = isAsked
      ? namesIn(await client.fetchUserInfo(config, tokens.access_token, claims.sub))
      : names
    return identityOf(claims, more)
  } catch (error) {
    throw refusalIn(error) ?? notSaid(ctx, client, error)
  }
}

const namesIn = ({ preferred_username, email }: IDToken | UserInfoResponse): string[] =>
  [preferred_username, email].filter(
    (name): name is string => typeof name === 'string' && isPlainLine(name, personNameCharsMax),
  )

const subjectCharsMax = 255

function identityOf({ iss: issuer, sub: subject }: IDToken, names: string[]): Identity {
  if (!isPlainLine(subject, subjectCharsMax)) throw new Error('a subject that is no line')
  return { issuer, subject, names }
}

/** What went wrong is told in the provider's own word where it has one, else in the log. */
function notSaid(ctx: AppContext, client: Library, error: unknown): ApiError {
  const isTold =
    error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError
  const word = isTold && /^[a-z_]{1,40}$/.test(error.error) ? error.error : undefined
  ctx.log.warn('the sign-in provider was not believed', { said: messageOf(error), word })
  return new ApiError('no_provider', { why: word ?? 'its answer cannot be trusted' })
}
