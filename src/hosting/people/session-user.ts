import type { AppContext } from '../../context.ts'
import { sign } from '../../core/ids.ts'
import { ApiError, isApiError } from '../../errors.ts'
import { operationHooks } from '../../http/authentication.ts'
import type { Operation } from '../../http/operation.ts'
import { getRequestContext } from '../../http/request-context.ts'
import { readApiKey } from '../../keys/request-key.ts'
import { callerAuth, checkAgentsOn, getKey } from '../authentication.ts'
import { checkActive, findPerson, type Person, findOrCreateProxyUser } from './people.ts'
import * as sessions from './sessions.ts'

/** Who asks: a person, by a session where there is one. */
export interface SessionUser {
  person: Person
  session: sessions.Session | undefined
}

declare module '../../http/request-context.ts' {
  interface RequestContext {
    /** The authenticated person of an Agent API request. */
    person?: Person
    /** The user of a web request: undefined in the promise for a visitor without a session. */
    sessionUser?: Promise<SessionUser | undefined>
  }
}

/** Returns the signed-in user, or the one that a trusted proxy names. Reads it once per request. */
export function findSessionUser(ctx: AppContext, request: Request): Promise<SessionUser | undefined> {
  return (getRequestContext(request).sessionUser ??= lookUp(ctx, request))
}

async function lookUp(ctx: AppContext, request: Request): Promise<SessionUser | undefined> {
  if (ctx.config.personHeader) {
    const name = getRequestContext(request).vouchedPerson
    const person = name === undefined ? undefined : await findOrCreateProxyUser(ctx, name)
    if (person) checkActive(person)
    return person && { person, session: undefined }
  }
  const secret = readSessionCookie(ctx, request)
  return secret === undefined ? undefined : sessions.findSession(ctx, secret)
}

/** A secret, as a pattern has it. */
export const secretPattern = '[A-Za-z0-9]{40}'

const isSecure = ({ urls }: AppContext): boolean => urls.app.startsWith('https:')

/**
 * Behind https the name itself binds a cookie to this host (RFC 6265bis, 4.1.3.2), so that no host
 * beside or below it can plant one.
 */
export const cookieName = (ctx: AppContext, name = 'berth'): string =>
  isSecure(ctx) ? `__Host-${name}` : name

/** What a request's cookie of ours holds, where that is of this form. */
export function readCookie(
  ctx: AppContext,
  { headers }: Request,
  name: string,
  form: string,
): string | undefined {
  const pattern = new RegExp(`(?:^|; ?)${cookieName(ctx, name)}=(${form})(?:;|$)`)
  return pattern.exec(headers.get('cookie') ?? '')?.[1]
}

/** The session cookie of a request. */
export const readSessionCookie = (ctx: AppContext, request: Request): string | undefined =>
  readCookie(ctx, request, 'berth', secretPattern)

/** The header that sets a cookie, or with no value takes it back. */
export function setCookie(ctx: AppContext, value: string, seconds?: number): string {
  const age = value === '' ? 0 : seconds
  return (
    `${cookieName(ctx)}=${value}; Path=/; HttpOnly; SameSite=Lax` +
    (isSecure(ctx) ? '; Secure' : '') +
    (age === undefined ? '' : `; Max-Age=${age}`)
  )
}

/** What every form of a visitor carries: who cannot read our pages cannot know it. */
export const formToken = (ctx: AppContext, seed: string): string => sign(ctx.secret, `form ${seed}`)

/**
 * Refuses cross_site for a request that a browser says came from a page of another site. Programs
 * that are no browser send neither header, and bring no cookie they were not given.
 */
export function checkSite({ urls }: AppContext, { headers }: Request): void {
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  const hosts = [headers.get('host'), new URL(urls.app).host]
  const isOurs = origin === null || hosts.includes(URL.parse(origin)?.host ?? '')
  const isNear = site === null || site === 'same-origin' || site === 'none'
  if (!isOurs || !isNear) throw new ApiError('cross_site')
}

/**
 * The person of an API call: by a personal key, else by a session. Refuses agents_off,
 * not_signed_in, bad_personal_key, wrong_key_kind, account_suspended, cross_site.
 */
async function getPerson(ctx: AppContext, request: Request): Promise<Person> {
  checkAgentsOn(ctx)
  if (readApiKey(request.headers) !== undefined) {
    const bad = () => new ApiError('bad_personal_key', { account: `${ctx.urls.app}/account` })
    const key = await getKey(ctx, request).catch((error: unknown) => {
      throw isApiError(error, 'bad_key') ? bad() : error
    })
    if (key.kind !== 'person') {
      throw new ApiError('wrong_key_kind', { kind: key.kind, wanted: 'personal' })
    }
    const person = await findPerson(ctx, key.owner)
    if (!person) throw bad()
    checkActive(person)
    return person
  }
  const visitor = await findSessionUser(ctx, request)
  if (!visitor) throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in` })
  if (request.method !== 'GET') checkSite(ctx, request)
  return visitor.person
}

/** Adds the macro that authenticates operations of persons, beside those of `callerAuth`. */
export const personAuth = (ctx: AppContext) =>
  callerAuth(ctx).macro({
    person: (operation: Operation) => ({
      ...operationHooks(ctx, operation, {
        authenticate: async (request) => {
          getRequestContext(request).person = await getPerson(ctx, request)
        },
      }),
      resolve: ({ request }: { request: Request }) => ({ caller: authenticatedPerson(request) }),
    }),
  })

function authenticatedPerson(request: Request): Person {
  const { person } = getRequestContext(request)
  if (!person) throw new Error('the request was not authenticated')
  return person
}
