import type { AppContext } from '../kernel/context.ts'
import { ApiError, type HostingErrorName, isApiError } from '../kernel/errors.ts'
import type { Access, Sender } from '../kernel/http/operation.ts'
import { newSecret, sign } from '../kernel/ids.ts'
import { deviceMs, keylessBodyBytesMax, sessionMs } from '../kernel/limits.ts'
import { readApiKey } from '../money/keys/keys.ts'
import { accountOf } from '../money/ledger/accounts.ts'
import type { Caller } from './agents/spending.ts'
import { checkAgentsOn, getCaller, getKey, type Needs } from './authentication.ts'
import { checkActive, findOrCreateProxyUser, findPerson, type Person } from './people.ts'
import * as sessions from './sessions.ts'
import { devicesPattern, type SignInClient, type SignInResult } from './sign-in.ts'

/** A signed-in person. Without a session, a trusted proxy authenticated them. */
export interface SessionUser {
  person: Person
  session: sessions.Session | undefined
}

/** The sender of a request that may have a session. */
export type SessionSender = Pick<Sender, 'headers' | 'context'>

declare module '../kernel/http/request-context.ts' {
  interface RequestContext {
    /** The user of a web request: undefined in the promise for a visitor without a session. */
    sessionUser?: Promise<SessionUser | undefined>
  }
}

/** Returns the signed-in user, or the one that a trusted proxy names. Reads it once per request. */
export function findSessionUser(
  ctx: AppContext,
  sender: SessionSender,
): Promise<SessionUser | undefined> {
  return (sender.context.sessionUser ??= identify(ctx, sender))
}

async function identify(ctx: AppContext, sender: SessionSender): Promise<SessionUser | undefined> {
  const user = await lookUp(ctx, sender)
  const { client } = sender.context
  if (user) client.account = accountOf({ kind: 'person', owner: user.person.id })
  return user
}

async function lookUp(ctx: AppContext, sender: SessionSender): Promise<SessionUser | undefined> {
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

/**
 * Returns the name of a cookie. Over https the prefix binds it to this host, so no sibling or
 * subdomain can set it (RFC 6265bis, 4.1.3.2).
 */
export const cookieName = (ctx: AppContext, name = 'berth'): string =>
  secureAttribute(ctx) ? `__Host-${name}` : name

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

export const secureAttribute = ({ urls }: AppContext): string =>
  urls.app.startsWith('https:') ? '; Secure' : ''

/** Returns the header that sets the session cookie. */
export const sessionCookie = (ctx: AppContext, secret: string): string =>
  setCookie(ctx, secret, sessionMs / 1_000)

/** Returns the header that deletes the session cookie. */
export const clearedSessionCookie = (ctx: AppContext): string => setCookie(ctx, '', 0)

const setCookie = (ctx: AppContext, secret: string, seconds: number): string =>
  `${cookieName(ctx)}=${secret}; Path=/; HttpOnly; SameSite=Lax` +
  `${secureAttribute(ctx)}; Max-Age=${seconds}`

const deviceCookie = 'berth_devices'

/** Returns the cookies of a new session: that of the session, and that of the device. */
export const signInCookies = (
  ctx: AppContext,
  { secret, device }: Pick<SignInResult, 'secret' | 'device'>,
): string[] => [
  sessionCookie(ctx, secret),
  `${cookieName(ctx, deviceCookie)}=${device}; Path=/; HttpOnly; SameSite=Strict` +
    `${secureAttribute(ctx)}; Max-Age=${deviceMs / 1_000}`,
]

const guestCookieName = 'berth_player'

/** Returns the secret of a guest, by which a browser without a session stays the same player. */
export const readGuestCookie = (
  ctx: AppContext,
  sender: Pick<Sender, 'headers'>,
): string | undefined => readCookie(ctx, sender, guestCookieName, secretPattern)

/** Returns the header that makes a browser remember a guest. */
export const guestCookie = (ctx: AppContext, secret: string): string =>
  `${cookieName(ctx, guestCookieName)}=${secret}; Path=/; HttpOnly; SameSite=Strict` +
  `${secureAttribute(ctx)}; Max-Age=${deviceMs / 1_000}`

/** Returns the CSRF token of forms. Other sites cannot read it from a page. */
export const formToken = (ctx: AppContext, seed: string): string => sign(ctx.secret, `form ${seed}`)

/**
 * Returns the form token of a session, or of a browser without one, with the new cookie that such a
 * browser keeps it by.
 */
export function readFormToken(
  ctx: AppContext,
  sender: Pick<Sender, 'headers'>,
  user: SessionUser | undefined,
): { token: string; cookie: string | undefined } {
  const owner = user?.session?.hash ?? user?.person.id
  if (owner !== undefined) return { token: formToken(ctx, owner), cookie: undefined }
  const known = readCookie(ctx, sender, 'berth_form', secretPattern)
  const seed = known ?? newSecret()
  const cookie = `${cookieName(ctx, 'berth_form')}=${seed}; Path=/; HttpOnly; SameSite=Strict${secureAttribute(ctx)}`
  return { token: formToken(ctx, `guest ${seed}`), cookie: known ? undefined : cookie }
}

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

/** A browser, whether a person is signed in or not. */
export interface Visitor {
  user: SessionUser | undefined
  /** The client that sign-in limits count. */
  client: SignInClient
  /** The form token, which challenges of passkeys are bound to. */
  holder: string
  /** The agent that plays in a chat, with the key that its host sends. */
  caller?: Caller | undefined
}

/** A browser where a person is signed in. */
export type SignedIn = Visitor & SessionUser

/** Returns the browser of a request. Throws `cross_site`. */
export async function getVisitor(ctx: AppContext, sender: Sender): Promise<Visitor> {
  if (sender.method !== 'GET') checkSite(ctx, sender)
  const user = await findSessionUser(ctx, sender)
  const { group, prefix } = sender.context.client
  const client = {
    address: group,
    prefix,
    devices: readCookie(ctx, sender, deviceCookie, devicesPattern) ?? '',
    browser: sender.headers.get('user-agent') ?? '',
    before: user?.session,
  }
  return { user, client, holder: readFormToken(ctx, sender, user).token }
}

/**
 * Returns the player of a chat: the agent of the key that the host sends, if it sends one. Throws
 * what `agent` throws for a bad key.
 */
export async function getChatPlayer(
  ctx: AppContext,
  sender: Sender,
  operation: Needs,
): Promise<Visitor> {
  const visitor = await getVisitor(ctx, sender)
  if (readApiKey(sender.headers) === undefined) return visitor
  return { ...visitor, caller: await getCaller(ctx, sender, operation) }
}

/** Returns the party of a call that owns what it keeps: a person, or an agent in a chat. */
export const playerOf = ({ user, caller }: Visitor): { id: string } | undefined =>
  user?.person ?? caller?.agent

async function getSignedIn(ctx: AppContext, sender: Sender): Promise<SignedIn> {
  const visitor = await getVisitor(ctx, sender)
  const { user } = visitor
  if (user) return { ...visitor, ...user }
  throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in`, isSession: true })
}

/** The access of any browser, such as to sign in. */
export const visitor: Access<Visitor, HostingErrorName> = {
  auth: 'none',
  errors: ['cross_site', 'rate_limited'],
  security: [],
  identify: getVisitor,
  bodyBytesMax: keylessBodyBytesMax,
}

/** The access of a person with a web session. No key can change how a person signs in. */
export const signedIn: Access<SignedIn, HostingErrorName> = {
  auth: 'person',
  errors: ['not_signed_in', 'account_suspended', 'cross_site', 'rate_limited'],
  security: [{ session: [] }],
  identify: getSignedIn,
}

/** The operator, as operations and the audit log name them. */
export type Operator = Pick<Person, 'id' | 'name'>

/** The access of the operator with a web session. To everybody else, nothing is there. */
export const operator: Access<Operator, HostingErrorName> = {
  auth: 'person',
  security: signedIn.security,
  errors: [...signedIn.errors, 'not_found'],
  async identify(ctx, sender) {
    const { person } = await getSignedIn(ctx, sender)
    if (person.operator) return person
    throw new ApiError('not_found', { what: 'page' })
  },
}
