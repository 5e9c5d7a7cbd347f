import type { AppContext } from '../context.ts'
import { newSecret, sha256 } from '../core/ids.ts'
import {
  checkSite,
  cookieName,
  findSessionUser,
  formToken,
  readCookie,
  readSessionCookie,
  secretPattern,
  type SessionUser,
  setCookie,
} from '../hosting/people/session-user.ts'
import type { SignInClient } from '../hosting/people/sign-in.ts'
import { callerAddress } from '../http/request-context.ts'
import { formBytesMax, sessionMs } from '../limits.ts'
import { readForm, type SubmittedForm } from './forms.ts'
import { type Layout, type Page, pageResponse } from './layout.ts'
import { describeError } from './messages.ts'

/** A request as it comes in, with what answers it. */
export interface PageInput {
  ctx: AppContext
  layout: Layout
  request: Request
}

/** One visit to the pages of people: who it is, and the token of the forms that are shown. */
export interface PageRequest extends PageInput {
  visitor: SessionUser | undefined
  token: string
  /** Set for who has none yet: the seed of the token of forms before any sign-in. */
  cookie: string | undefined
}

/** A visit of someone who is signed in. */
export interface SignedInRequest extends PageRequest {
  visitor: SessionUser
}

/** Who visits. A form's token belongs to a session, or to a browser before it has one. */
export async function getPageRequest(input: PageInput): Promise<PageRequest> {
  const { ctx, request } = input
  const visitor = await findSessionUser(ctx, request)
  const known = readCookie(ctx, request, 'berth_form', secretPattern)
  const seed = known ?? newSecret()
  const signedIn = visitor?.session?.hash ?? visitor?.person.id
  const isNew = signedIn === undefined && known === undefined
  return {
    ...input,
    visitor,
    token: formToken(ctx, signedIn ?? `guest ${seed}`),
    cookie: isNew
      ? `${cookieName(ctx, 'berth_form')}=${seed}; Path=/; HttpOnly; SameSite=Strict${secureAttribute(ctx)}`
      : undefined,
  }
}

/** What a cookie of ours says further behind https. */
export const secureAttribute = ({ urls }: AppContext): string =>
  urls.app.startsWith('https:') ? '; Secure' : ''

/** An address that keeps where one wanted to go. */
export const withNext = (path: string, next: string): string =>
  `${path}?next=${encodeURIComponent(next)}`

/** Where a browser goes after it signed in: one of these pages of ours, and nowhere else. */
const nextPattern =
  /^\/(account|agents|wallet|claim|welcome|studio|console)(\/[\w-]{1,64}){0,2}(\?[!-~]{0,500})?$/
export const safeNextPath = (text: string | null | undefined): string =>
  text && nextPattern.test(text) ? text : '/agents'

/** Goes to a page of ours with GET. */
export const redirectTo = (path: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: {
      location: path,
      'cache-control': 'no-store',
      ...(cookie && { 'set-cookie': cookie }),
    },
  })

/** A page for one person alone: kept by nobody, found by no search. */
export function privatePage(
  pageRequest: PageRequest,
  page: Page,
  cookie = pageRequest.cookie,
): Response {
  const headers = { ...page.headers, 'cache-control': 'no-store' }
  const scripts = [...(page.scripts ?? []), 'submit-guard.js' as const]
  const answer = pageResponse(pageRequest.layout, {
    section: '/account',
    ...page,
    scripts,
    headers,
  })
  if (cookie) answer.headers.append('set-cookie', cookie)
  return answer
}

/** Where a request comes from, as sign-ins are counted and sessions are listed. */
export const clientOf = ({ request, visitor }: PageRequest): SignInClient => ({
  address: callerAddress(request),
  browser: request.headers.get('user-agent') ?? '',
  before: visitor?.session,
})

/** The cookie of a session that has just begun. */
export const sessionCookie = ({ ctx }: PageRequest, secret: string): string =>
  setCookie(ctx, secret, sessionMs / 1_000)

/** The cookie that takes it back. */
export const clearedSessionCookie = ({ ctx, request }: PageRequest): string | undefined =>
  readSessionCookie(ctx, request) === undefined ? undefined : setCookie(ctx, '')

/** Does what a form asks; when that is refused, shows its page again with the sentence in it. */
export async function withErrorPage(
  pageRequest: PageRequest,
  work: () => Promise<Response>,
  again: (message: string) => Page | Promise<Page>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    const refusal = describeError(error)
    if (!refusal) throw error
    const { message, ...answered } = refusal
    return privatePage(pageRequest, { ...(await again(message)), ...answered })
  }
}

/** What the page says whose form was sent with the token of another session, or with none. */
const staleFormMessage = ({ visitor }: PageRequest): string =>
  visitor
    ? 'You signed in since this page was opened, so nothing was done. Look it over and send it again.'
    : 'This page was open for too long, or your browser keeps no cookies. Nothing was done: send it ' +
      'again.'

export interface FormOptions {
  bytesMax?: number
  /** Where such a form leads instead, where its page has nothing to do any more. */
  instead?: (form: SubmittedForm) => string | undefined
}

/**
 * Does what a form of ours asks; when that is refused, or its token is of another session, shows
 * its page again with the sentence and what was typed. Refuses cross_site, bad_request, too_large.
 */
export async function handleForm<V extends PageRequest>(
  pageRequest: V,
  work: (pageRequest: V, form: SubmittedForm) => Promise<Response>,
  again: (pageRequest: V, message: string, form: SubmittedForm) => Page | Promise<Page>,
  { bytesMax = formBytesMax, instead }: FormOptions = {},
): Promise<Response> {
  checkSite(pageRequest.ctx, pageRequest.request)
  const form = await readForm(pageRequest.request, bytesMax)
  if (sha256(form.text('token')) === sha256(pageRequest.token)) {
    return withErrorPage(
      pageRequest,
      () => work(pageRequest, form),
      (message) => again(pageRequest, message, form),
    )
  }
  const path = instead?.(form)
  if (path !== undefined) return redirectTo(path)
  return privatePage(pageRequest, {
    ...(await again(pageRequest, staleFormMessage(pageRequest), form)),
    status: 403,
  })
}

/**
 * Where who is not signed in goes first, then back to the page, or to that with the form. A file
 * would leave its browser on the form it has sent, so that leads to the page which offers it.
 */
function redirectToSignIn({ request: { method, url, headers } }: PageInput): Response {
  const page = URL.parse(method === 'POST' ? (headers.get('referer') ?? url) : url)
  const path = page?.pathname.replace(/\.csv$/, '')
  return redirectTo(withNext('/sign-in', safeNextPath(page && `${path}${page.search}`)))
}

/** An answer that only who is signed in is given. */
export async function requireSignIn(
  input: PageInput,
  work: (signedIn: SignedInRequest) => Promise<Response>,
): Promise<Response> {
  const pageRequest = await getPageRequest(input)
  const { visitor } = pageRequest
  return visitor ? work({ ...pageRequest, visitor }) : redirectToSignIn(input)
}

/** A page that only who is signed in is shown. */
export const signedInPage = (
  input: PageInput,
  view: (signedIn: SignedInRequest) => Promise<Page>,
): Promise<Response> =>
  requireSignIn(input, async (signedIn) => privatePage(signedIn, await view(signedIn)))

/** A form that only who is signed in may send, and its page again when it is refused. */
export const signedInForm = (
  input: PageInput,
  work: (signedIn: SignedInRequest, form: SubmittedForm) => Promise<Response>,
  again: (signedIn: SignedInRequest, message: string, form: SubmittedForm) => Promise<Page>,
  more?: FormOptions,
): Promise<Response> => requireSignIn(input, (signedIn) => handleForm(signedIn, work, again, more))
