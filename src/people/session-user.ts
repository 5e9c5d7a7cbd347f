import { ApiError, type HostingErrorName, isApiError } from '../kernel/errors.ts'
import type { Access, Sender } from '../kernel/http/operation.ts'
import { sign } from '../kernel/ids.ts'
import { readApiKey } from '../money/keys/request-key.ts'
import { accountOf } from '../money/ledger/accounts.ts'
import type { AppContext } from '../server/context.ts'
import { checkAgentsOn, getKey } from './authentication.ts'
import { checkActive, findOrCreateProxyUser, findPerson, type Person } from './people.ts'
import * as sessions from './sessions.ts'

/** A signed-in person. Without a session, a trusted proxy authenticated them. */
export interface SessionUser {
  person: Person
  session: sessions.Session | undefined
}

declare module '../kernel/http/request-context.ts' {
  interface RequestContext {
    /** The user of a web request: undefined in the promise for a visitor without a session. */
    sessionUser?: Promise<SessionUser | undefined>
  }
}

/** Returns the signed-in user, or the one that a trusted proxy names. Reads it once per request. */
export function findSessionUser(ctx: AppContext, sender: Sender): Promise<SessionUser | undefined> {
  return (sender.context.sessionUser ??= identify(ctx, sender))
}

async function identify(ctx: AppContext, sender: Sender): Promise<SessionUser | undefined> {
  const user = await lookUp(ctx, sender)
  const { client } = sender.context
  if (user) client.account = accountOf({ kind: 'person', owner: user.person.id })
  return user
}

async function lookUp(ctx: AppContext, sender: Sender): Promise<SessionUser | undefined> {
  if (ctx.config.personHeader) {
    const { vouchedPerson: name } = sender.context
    const user = name === undefined ? undefined : await findOrCreateProxyUser(ctx, name)
    if (user) checkActive(user)
    return user && { person: user, session: undefined }
  }
  const secret = readSessionCookie(ctx, sender)
  return secret === undefined ? undefined : sessions.findSession(ctx, secret)
}

/** The pattern of a session secret. */
export const secretPattern = '[A-Za-z0-9]{40}'

const isSecure = ({ urls }: AppContext): boolean => urls.app.startsWith('https:')

/**
 * Returns the name of a cookie. Over https the prefix binds it to this host, so no sibling or
 * subdomain can set it (RFC 6265bis, 4.1.3.2).
 */
export const cookieName = (ctx: AppContext, name = 'berth'): string =>
  isSecure(ctx) ? `__Host-${name}` : name

/** Returns the value of a cookie if it matches the pattern. */
export function readCookie(
  ctx: AppContext,
  { headers }: Pick<Sender, 'headers'>,
  name: string,
  pattern: string,
): string | undefined {
  const cookie = new RegExp(`(?:^|; ?)${cookieName(ctx, name)}=(${pattern})(?:;|$)`)
  return cookie.exec(headers.get('cookie') ?? '')?.[1]
}

/** Returns the secret in the session cookie of a request. */
export const readSessionCookie = (
  ctx: AppContext,
  sender: Pick<Sender, 'headers'>,
): string | undefined => readCookie(ctx, sender, 'berth', secretPattern)

/** Returns the header that sets the session cookie; an empty value deletes it. */
export function setCookie(ctx: AppContext, value: string, seconds?: number): string {
  const age = value === '' ? 0 : seconds
  return (
    `${cookieName(ctx)}=${value}; Path=/; HttpOnly; SameSite=Lax` +
    (isSecure(ctx) ? '; Secure' : '') +
    (age === undefined ? '' : `; Max-Age=${age}`)
  )
}

/** Returns the CSRF token of forms. Other sites cannot read it from a page. */
export const formToken = (ctx: AppContext, seed: string): string => sign(ctx.secret, `form ${seed}`)

/**
 * Throws `cross_site` if a browser reports that a page of another site made the request. Other
 * clients send neither header and only cookies that they were given.
 */
export function checkSite({ urls }: AppContext, { headers }: Pick<Sender, 'headers'>): void {
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  const hosts = [headers.get('host'), new URL(urls.app).host]
  const isSameHost = origin === null || hosts.includes(URL.parse(origin)?.host ?? '')
  const isSameSite = site === null || site === 'same-origin' || site === 'none'
  if (!isSameHost || !isSameSite) throw new ApiError('cross_site')
}

/**
 * Returns the person of an API request, by personal key or session. Throws `agents_off`,
 * `not_signed_in`, `bad_personal_key`, `wrong_key_kind`, `account_suspended` and `cross_site`.
 */
async function getPerson(ctx: AppContext, sender: Sender): Promise<Person> {
  checkAgentsOn(ctx)
  if (readApiKey(sender.headers) !== undefined) {
    const invalidKey = () =>
      new ApiError('bad_personal_key', { account: `${ctx.urls.app}/account` })
    const key = await getKey(ctx, sender).catch((error: unknown) => {
      throw isApiError(error, 'bad_key') ? invalidKey() : error
    })
    if (key.kind !== 'person') {
      throw new ApiError('wrong_key_kind', { kind: key.kind, expected: 'personal' })
    }
    const owner = await findPerson(ctx, key.owner)
    if (!owner) throw invalidKey()
    checkActive(owner)
    return owner
  }
  const user = await findSessionUser(ctx, sender)
  if (!user) throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in` })
  if (sender.method !== 'GET') checkSite(ctx, sender)
  return user.person
}

/** The access of a person, who has a web session or a personal key. */
export const person: Access<Person, HostingErrorName> = {
  auth: 'person',
  errors: [
    'agents_off',
    'not_signed_in',
    'bad_personal_key',
    'wrong_key_kind',
    'account_suspended',
    'cross_site',
    'rate_limited',
  ],
  security: [{ key: [] }, { session: [] }],
  identify: getPerson,
}
