import type { AppContext } from '../../context.ts'
import { newSecret, sha256 } from '../../core/ids.ts'
import type { From } from '../../hosting/people/sign-in.ts'
import {
  checkSite,
  cookieIn,
  cookieName,
  cookieOf,
  formToken,
  secretForm,
  setCookie,
  type Visitor,
  visitorOf,
} from '../../hosting/people/visitor.ts'
import { callerAddress } from '../../http/request-context.ts'
import { formBytesMax, sessionMs } from '../../limits.ts'
import { type Layout, type Page, pageAnswer } from '../layout.ts'
import { refusalOf } from '../words.ts'
import { type Form, readForm } from './form.ts'

/** A request as it comes in, with what answers it. */
export interface Incoming {
  ctx: AppContext
  layout: Layout
  request: Request
}

/** One visit to the pages of people: who it is, and the token of the forms that are shown. */
export interface Visit extends Incoming {
  visitor: Visitor | undefined
  token: string
  /** Set for who has none yet: the seed of the token of forms before any sign-in. */
  cookie: string | undefined
}

/** A visit of someone who is signed in. */
export interface Own extends Visit {
  visitor: Visitor
}

/** Who visits. A form's token belongs to a session, or to a browser before it has one. */
export async function visitFor(incoming: Incoming): Promise<Visit> {
  const { ctx, request } = incoming
  const visitor = await visitorOf(ctx, request)
  const known = cookieIn(ctx, request, 'berth_form', secretForm)
  const seed = known ?? newSecret()
  const own = visitor?.session?.hash ?? visitor?.person.id
  const isNew = own === undefined && known === undefined
  return {
    ...incoming,
    visitor,
    token: formToken(ctx, own ?? `guest ${seed}`),
    cookie: isNew
      ? `${cookieName(ctx, 'berth_form')}=${seed}; Path=/; HttpOnly; SameSite=Strict${secureOf(ctx)}`
      : undefined,
  }
}

/** What a cookie of ours says further behind https. */
export const secureOf = ({ urls }: AppContext): string =>
  urls.app.startsWith('https:') ? '; Secure' : ''

/** An address that keeps where one wanted to go. */
export const withNext = (path: string, next: string): string =>
  `${path}?next=${encodeURIComponent(next)}`

/** Where a browser goes after it signed in: one of these pages of ours, and nowhere else. */
const nextPattern =
  /^\/(account|agents|wallet|claim|welcome|studio|console)(\/[\w-]{1,64}){0,2}(\?[!-~]{0,500})?$/
export const nextOf = (text: string | null | undefined): string =>
  text && nextPattern.test(text) ? text : '/agents'

/** Goes to a page of ours with GET. */
export const goTo = (path: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: {
      location: path,
      'cache-control': 'no-store',
      ...(cookie && { 'set-cookie': cookie }),
    },
  })

/** A page for one person alone: kept by nobody, found by no search. */
export function shown(visit: Visit, page: Page, cookie = visit.cookie): Response {
  const headers = { ...page.headers, 'cache-control': 'no-store' }
  const scripts = [...(page.scripts ?? []), 'send-once.js' as const]
  const answer = pageAnswer(visit.layout, { place: '/account', ...page, scripts, headers })
  if (cookie) answer.headers.append('set-cookie', cookie)
  return answer
}

/** Where a request comes from, as sign-ins are counted and sessions are listed. */
export const fromOf = ({ request, visitor }: Visit): From => ({
  address: callerAddress(request),
  browser: request.headers.get('user-agent') ?? '',
  before: visitor?.session,
})

/** The cookie of a session that has just begun. */
export const sessionCookie = ({ ctx }: Visit, secret: string): string =>
  setCookie(ctx, secret, sessionMs / 1_000)

/** The cookie that takes it back. */
export const noCookie = ({ ctx, request }: Visit): string | undefined =>
  cookieOf(ctx, request) === undefined ? undefined : setCookie(ctx, '')

/** Does what a form asks; when that is refused, shows its page again with the sentence in it. */
export async function orAgain(
  visit: Visit,
  work: () => Promise<Response>,
  again: (said: string) => Page | Promise<Page>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    const { said, ...answered } = refusal
    return shown(visit, { ...(await again(said)), ...answered })
  }
}

/** What the page says whose form was sent with the token of another session, or with none. */
const stale = ({ visitor }: Visit): string =>
  visitor
    ? 'You signed in since this page was opened, so nothing was done. Look it over and send it again.'
    : 'This page was open for too long, or your browser keeps no cookies. Nothing was done: send it ' +
      'again.'

export interface Taking {
  bytesMax?: number
  /** Where such a form leads instead, where its page has nothing to do any more. */
  instead?: (form: Form) => string | undefined
}

/**
 * Does what a form of ours asks; when that is refused, or its token is of another session, shows
 * its page again with the sentence and what was typed. Refuses cross_site, bad_request, too_large.
 */
export async function takeForm<V extends Visit>(
  visit: V,
  work: (visit: V, form: Form) => Promise<Response>,
  again: (visit: V, said: string, form: Form) => Page | Promise<Page>,
  { bytesMax = formBytesMax, instead }: Taking = {},
): Promise<Response> {
  checkSite(visit.ctx, visit.request)
  const form = await readForm(visit.request, bytesMax)
  if (sha256(form.text('token')) === sha256(visit.token)) {
    return orAgain(
      visit,
      () => work(visit, form),
      (said) => again(visit, said, form),
    )
  }
  const path = instead?.(form)
  if (path !== undefined) return goTo(path)
  return shown(visit, { ...(await again(visit, stale(visit), form)), status: 403 })
}

/**
 * Where who is not signed in goes first, then back to the page, or to that with the form. A file
 * would leave its browser on the form it has sent, so that leads to the page which offers it.
 */
function toSignIn({ request: { method, url, headers } }: Incoming): Response {
  const page = URL.parse(method === 'POST' ? (headers.get('referer') ?? url) : url)
  const path = page?.pathname.replace(/\.csv$/, '')
  return goTo(withNext('/sign-in', nextOf(page && `${path}${page.search}`)))
}

/** An answer that only who is signed in is given. */
export async function asOwn(
  incoming: Incoming,
  work: (own: Own) => Promise<Response>,
): Promise<Response> {
  const visit = await visitFor(incoming)
  const { visitor } = visit
  return visitor ? work({ ...visit, visitor }) : toSignIn(incoming)
}

/** A page that only who is signed in is shown. */
export const ownPage = (incoming: Incoming, view: (own: Own) => Promise<Page>): Promise<Response> =>
  asOwn(incoming, async (own) => shown(own, await view(own)))

/** A form that only who is signed in may send, and its page again when it is refused. */
export const ownForm = (
  incoming: Incoming,
  work: (own: Own, form: Form) => Promise<Response>,
  again: (own: Own, said: string, form: Form) => Promise<Page>,
  more?: Taking,
): Promise<Response> => asOwn(incoming, (own) => takeForm(own, work, again, more))
