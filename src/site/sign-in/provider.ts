import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { senderOf } from '../../kernel/http/request-context.ts'
import { newSecret } from '../../kernel/ids.ts'
import { createFirstAgent } from '../../people/claims.ts'
import { linkIdentity, signInWithProvider } from '../../people/identities.ts'
import { authorizationUrl, callbackPath, providerName } from '../../people/identity-provider.ts'
import {
  cookieName,
  getVisitor,
  readCookie,
  secretPattern,
  secureAttribute,
  signInCookies,
} from '../../people/session-user.ts'
import { checkFresh } from '../../people/sessions.ts'
import { isValidTicket, ticketMs } from '../../people/tickets.ts'
import { getAccountPage } from '../account.ts'
import type { Layout, Page } from '../layout.ts'
import {
  getPageRequest,
  nextAfterSignUp,
  type PageInput,
  type PageRequest,
  pageRoutes,
  privatePage,
  redirectTo,
  safeNextPath,
  withErrorPage,
} from '../session.ts'
import { linkPurpose, signInMethods } from './methods.ts'
import { recoveryCodesPage, signInPage } from './sign-in.ts'

/** Redirects to the identity provider and handles its callback, to sign in or to link. */
export const providerRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/sign-in/oidc', ({ input }) => runStep(input, startSignIn))
    .get(callbackPath, ({ input }) => runStep(input, finishSignIn))

/** The state that the browser keeps in a cookie during the redirect. */
interface ProviderSignIn {
  secret: string
  why: 'in' | 'link'
  next: string
}

const statePattern = `${secretPattern}\\.(?:in|link)\\.[\\w-]{0,2800}`

/** SameSite=Lax because the callback comes from the provider's site. */
const stateCookie = (ctx: AppContext, { secret, why, next }: ProviderSignIn): string =>
  `${cookieName(ctx, 'berth_trip')}=${secret}.${why}.${Buffer.from(next).toString('base64url')}; ` +
  `Path=/; HttpOnly; SameSite=Lax; Max-Age=${ticketMs / 1_000}${secureAttribute(ctx)}`

function readState(ctx: AppContext, request: Request): ProviderSignIn {
  const cookie = readCookie(ctx, request, 'berth_trip', statePattern)
  const [secret, why, next = ''] = cookie?.split('.') ?? []
  if (secret === undefined) throw new ApiError('sign_in_stale')
  const back = safeNextPath(Buffer.from(next, 'base64url').toString())
  return { secret, why: why === 'link' ? 'link' : 'in', next: back }
}

/** Binds the flow to the browser, and a link also to its session. */
const stateHolder = ({ visitor }: PageRequest, { secret, why, next }: ProviderSignIn): string =>
  [secret, why, next, ...(why === 'link' ? [visitor?.session?.hash] : [])].join(' ')

async function startSignIn(req: PageRequest): Promise<Response> {
  const { ctx, query, token, visitor } = req
  const ticket = query.get('link')
  if (ticket !== null) {
    if (!isValidTicket(ctx, linkPurpose(token), ticket)) throw new ApiError('sign_in_stale')
    checkFresh(ctx, visitor?.session)
  }
  const why = ticket === null ? 'in' : 'link'
  const state: ProviderSignIn = { secret: newSecret(), why, next: safeNextPath(query.get('next')) }
  return redirectTo(await authorizationUrl(ctx, stateHolder(req, state)), stateCookie(ctx, state))
}

async function finishSignIn(req: PageRequest): Promise<Response> {
  const { ctx, request, query, visitor } = req
  const state = readState(ctx, request)
  const { client } = await getVisitor(ctx, senderOf(request))
  const back = { holder: stateHolder(req, state), query, from: client }
  if (state.why === 'link') {
    if (!visitor) throw new ApiError('sign_in_stale')
    await linkIdentity(ctx, visitor.person, back)
    return redirectTo('/account')
  }
  const { codes, ...result } = await signInWithProvider(ctx, back)
  const cookies = signInCookies(ctx, result)
  if (codes.length === 0) return redirectTo(state.next, cookies)
  await createFirstAgent(ctx, result.person, client.address)
  return privatePage(req, recoveryCodesPage(codes, nextAfterSignUp(state.next)), cookies)
}

/** Runs a step. An error is shown on the page where the flow started. */
async function runStep(
  input: PageInput,
  step: (req: PageRequest) => Promise<Response>,
): Promise<Response> {
  if (providerName(input.ctx) === undefined) {
    throw new ApiError('not_found', { what: 'page' })
  }
  const req = await getPageRequest(input)
  const next = safeNextPath(input.query.get('next'))
  const { token, visitor } = req
  const page = (message: string): Page | Promise<Page> =>
    visitor
      ? getAccountPage({ ...req, visitor }, { act: 'identities', message })
      : signInPage({ token, next, message, otherMethods: signInMethods(req, next) })
  return withErrorPage(req, () => step(req), page)
}
