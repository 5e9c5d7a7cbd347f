import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { newSecret } from '../../core/ids.ts'
import { ApiError } from '../../errors.ts'
import { linkIdentity, signInWithProvider } from '../../hosting/people/identities.ts'
import {
  authorizationUrl,
  callbackPath,
  providerName,
} from '../../hosting/people/identity-provider.ts'
import { cookieName, readCookie, secretPattern } from '../../hosting/people/session-user.ts'
import { checkFresh } from '../../hosting/people/sessions.ts'
import { isValidTicket, ticketMs } from '../../hosting/people/tickets.ts'
import { getAccountPage } from '../account/routes.ts'
import { queryOf } from '../components.ts'
import type { Layout, Page } from '../layout.ts'
import {
  clientOf,
  getPageRequest,
  type PageInput,
  type PageRequest,
  privatePage,
  redirectTo,
  safeNextPath,
  secureAttribute,
  sessionCookie,
  withErrorPage,
} from '../session.ts'
import { linkPurpose, signInMethods } from './methods.ts'
import { recoveryCodesPage, signInPage } from './pages.ts'

/** Signing in at a provider, and linking that to an account: there, and back. */
export const providerRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/sign-in/oidc', ({ request }) => runStep({ ctx, layout, request }, startSignIn))
    .get(callbackPath, ({ request }) => runStep({ ctx, layout, request }, finishSignIn))

/** What a browser keeps while it is away: a secret, what it went for, and where it goes then. */
interface ProviderSignIn {
  secret: string
  why: 'in' | 'link'
  next: string
}

const statePattern = `${secretPattern}\\.(?:in|link)\\.[\\w-]{0,900}`

/** Lax, since the provider's site is where the browser comes back from. */
const stateCookie = (ctx: AppContext, { secret, why, next }: ProviderSignIn): string =>
  `${cookieName(ctx, 'berth_trip')}=${secret}.${why}.${Buffer.from(next).toString('base64url')}; ` +
  `Path=/; HttpOnly; SameSite=Lax; Max-Age=${ticketMs / 1_000}${secureAttribute(ctx)}`

function readState(ctx: AppContext, request: Request): ProviderSignIn {
  const trip = readCookie(ctx, request, 'berth_trip', statePattern)
  const [secret, why, next = ''] = trip?.split('.') ?? []
  if (secret === undefined) throw new ApiError('sign_in_stale')
  const back = safeNextPath(Buffer.from(next, 'base64url').toString())
  return { secret, why: why === 'link' ? 'link' : 'in', next: back }
}

/** Whose trip it is: a browser's, and to link something that of one session in it. */
const stateHolder = ({ visitor }: PageRequest, { secret, why, next }: ProviderSignIn): string =>
  [secret, why, next, ...(why === 'link' ? [visitor?.session?.hash] : [])].join(' ')

async function startSignIn(pageRequest: PageRequest): Promise<Response> {
  const { ctx, request, token, visitor } = pageRequest
  const query = queryOf(request)
  const ticket = query.get('link')
  if (ticket !== null) {
    if (!isValidTicket(ctx, linkPurpose(token), ticket)) throw new ApiError('sign_in_stale')
    checkFresh(ctx, visitor?.session)
  }
  const why = ticket === null ? 'in' : 'link'
  const trip: ProviderSignIn = { secret: newSecret(), why, next: safeNextPath(query.get('next')) }
  return redirectTo(
    await authorizationUrl(ctx, stateHolder(pageRequest, trip)),
    stateCookie(ctx, trip),
  )
}

async function finishSignIn(pageRequest: PageRequest): Promise<Response> {
  const { ctx, request, visitor } = pageRequest
  const trip = readState(ctx, request)
  const query = queryOf(request)
  const back = { holder: stateHolder(pageRequest, trip), query, from: clientOf(pageRequest) }
  if (trip.why === 'link') {
    if (!visitor) throw new ApiError('sign_in_stale')
    await linkIdentity(ctx, visitor.person, back)
    return redirectTo('/account')
  }
  const { secret, codes } = await signInWithProvider(ctx, back)
  const cookie = sessionCookie(pageRequest, secret)
  return codes.length > 0
    ? privatePage(pageRequest, recoveryCodesPage(codes, trip.next), cookie)
    : redirectTo(trip.next, cookie)
}

/** A step of such a trip; refused, the page that it began on says why. */
async function runStep(
  input: PageInput,
  step: (pageRequest: PageRequest) => Promise<Response>,
): Promise<Response> {
  if (providerName(input.ctx) === undefined) {
    throw new ApiError('not_found', { what: 'address' })
  }
  const pageRequest = await getPageRequest(input)
  const next = safeNextPath(queryOf(input.request).get('next'))
  const { token, visitor } = pageRequest
  const again = (message: string): Page | Promise<Page> =>
    visitor
      ? getAccountPage({ ...pageRequest, visitor }, message)
      : signInPage({ token, next, message, otherMethods: signInMethods(pageRequest, next) })
  return withErrorPage(pageRequest, () => step(pageRequest), again)
}
