import { Elysia } from 'elysia'

import { getActingAgent } from '../apps/owners/owned-agents.ts'
import type { AppContext } from '../kernel/context.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { getRequestContext, noteError, senderOf } from '../kernel/http/request-context.ts'
import { sha256 } from '../kernel/ids.ts'
import { formBytesMax } from '../kernel/limits.ts'
import { toCredits } from '../kernel/money.ts'
import { t } from '../kernel/words/message.ts'
import { agentOwner } from '../money/ledger/accounts.ts'
import * as ledger from '../money/ledger/ledger.ts'
import type { Agent } from '../people/agents/agents.ts'
import { describeError } from '../people/error-response.ts'
import {
  checkSite,
  findSessionUser,
  readFormToken,
  readSessionCookie,
  type SessionUser,
} from '../people/session-user.ts'
import { findSession, mayBeSignedIn } from '../people/sessions.ts'
import { formatAmount } from './format.ts'
import { type Form, hiddenField, readForm, selectField } from './forms.ts'
import { type HeaderUser, readHeaderUser } from './header.ts'
import { type Layout, type Page, pageResponse, sandboxHeaders } from './layout.ts'

/** A request for a page, before its session is read. */
export interface PageInput {
  ctx: AppContext
  layout: Layout
  request: Request
  query: URLSearchParams
}

export interface PageRequest extends PageInput {
  visitor: SessionUser | undefined
  /** The header of a signed-in person. */
  user: HeaderUser | undefined
  /** The token of every form on the page. */
  token: string
  /** A new cookie that seeds the form token of a browser without a session. */
  cookie: string | undefined
}

/** A page request of a person who is signed in. */
export interface UserRequest extends PageRequest {
  visitor: SessionUser
}

/** Creates the plugin of page routes. Bodies stay unread: `handleForm` bounds and parses them. */
export const pageRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia().guard({ parse: ['none'] }).derive(({ request }): { input: PageInput } => ({
    input: { ctx, layout, request, query: new URL(request.url).searchParams },
  }))

/** Reads the session. Form tokens belong to the session, or to the browser without one. */
export async function getPageRequest(input: PageInput): Promise<PageRequest> {
  const { ctx, request } = input
  const visitor = await findSessionUser(ctx, senderOf(request))
  return {
    ...input,
    visitor,
    user: visitor && (await readHeaderUser(ctx, visitor.person)),
    ...readFormToken(ctx, request, visitor),
  }
}

/** Reads the session of a page that anyone can open; undefined without one. */
export async function findUser(input: PageInput): Promise<UserRequest | undefined> {
  if (!mayBeSignedIn(input.request, getRequestContext(input.request))) return undefined
  const req = await getPageRequest(input)
  return req.visitor && { ...req, visitor: req.visitor }
}

export const withNext = (path: string, next: string): string =>
  `${path}?next=${encodeURIComponent(next)}`

const nextPattern =
  /^\/(a|account|agents|wallet|claim|welcome|studio|console|new|notifications|collections|device|oauth|explore(?=\/))(\/@?[\w-]{1,64}){0,2}(\?[!-~]{0,2000})?$/

/** Returns the path to open after sign-in. Only some pages are allowed: no open redirect. */
export const safeNextPath = (text: string | null | undefined): string =>
  text && nextPattern.test(text) ? text : '/agents'

/** Returns the path to open after sign-up: the page to make an app unless another was requested. */
export const nextAfterSignUp = (text: string): string =>
  safeNextPath(text) === safeNextPath(undefined) ? '/new' : safeNextPath(text)

/**
 * Redirects with 303, so that the browser continues with GET. GET on the path of a form's action
 * redirects to the page of the form: after an error, the browser shows the path of the action.
 */
export function redirectTo(path: string, cookies: Cookies = []): Response {
  const headers = new Headers({ location: path, 'cache-control': 'no-store' })
  for (const cookie of [cookies].flat()) headers.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers })
}

/** `Set-Cookie` headers. */
type Cookies = string | string[]

/** Renders a page that no cache stores and no search engine indexes. */
export function privatePage(
  req: PageRequest,
  page: Page,
  cookies: Cookies | undefined = req.cookie,
): Response {
  const sandbox = page.frames === true ? sandboxHeaders(req.layout, req.request) : {}
  const headers = { ...page.headers, ...sandbox, 'cache-control': 'no-store' }
  const scripts = [...(page.scripts ?? []), 'submit-guard.js' as const]
  const shown = { section: '/account' as const, ...page, scripts, headers }
  const response = pageResponse(req.layout, shown, req.user)
  for (const cookie of [cookies ?? []].flat()) response.headers.append('set-cookie', cookie)
  return response
}

/** Runs `work`. An expected error renders `page` with its message instead. */
export async function withErrorPage(
  req: PageRequest,
  work: () => Promise<Response>,
  page: (message: string) => Page | Promise<Page>,
): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    noteError(req.ctx, getRequestContext(req.request), error)
    const expected = describeError(error)
    if (!expected) throw error
    const { message, ...init } = expected
    return privatePage(req, { ...(await page(message)), ...init })
  }
}

const staleFormMessage = ({ visitor }: PageRequest): string =>
  visitor
    ? t(
        'You signed in after this page was opened. Nothing was changed. Check the form and submit it again.',
      )
    : t(
        'This page expired, or your browser blocks cookies. Nothing was changed. Submit the form again.',
      )

export interface FormOptions {
  bytesMax?: number
  /** Distinct fields; those of most forms without it. */
  fieldsMax?: number
  /** Returns a path to redirect to when the token is stale and the form is no longer needed. */
  staleRedirect?: (form: Form) => string | undefined
}

/**
 * Checks the origin and the token of a form and runs `work`. On an error or a stale token, `page`
 * renders the form again with the message and the typed values. Throws `cross_site`,
 * `bad_request`, `too_large`.
 */
export async function handleForm<R extends PageRequest>(
  req: R,
  work: (req: R, form: Form) => Promise<Response>,
  page: (req: R, message: string, form: Form) => Page | Promise<Page>,
  { bytesMax = formBytesMax, fieldsMax, staleRedirect }: FormOptions = {},
): Promise<Response> {
  checkSite(req.ctx, req.request)
  const form = await readForm(req.request, bytesMax, fieldsMax)
  if (sha256(form.text('token')) === sha256(req.token)) {
    return withErrorPage(
      req,
      () => work(req, form),
      (message) => page(req, message, form),
    )
  }
  const path = staleRedirect?.(form)
  if (path !== undefined) return redirectTo(path)
  return privatePage(req, { ...(await page(req, staleFormMessage(req), form)), status: 403 })
}

/**
 * Redirects to sign-in and then back to the page, or to the page of the form. A CSV download leads
 * to the page that links to it: a download would leave the browser on the sign-in form.
 */
function redirectToSignIn({ request: { method, url, headers } }: PageInput): Response {
  const page = URL.parse(method === 'POST' ? (headers.get('referer') ?? url) : url)
  const path = page?.pathname.replace(/\.csv$/, '')
  return redirectTo(withNext('/sign-in', safeNextPath(page && `${path}${page.search}`)))
}

/** Runs `work` for a signed-in person and redirects everyone else to sign-in. */
export async function requireUser(
  input: PageInput,
  work: (req: UserRequest) => Promise<Response>,
): Promise<Response> {
  const req = await findUser(input)
  return req ? work(req) : redirectToSignIn(input)
}

/** Checks whether the session of a request that streams still exists. */
export async function isStillSignedIn({ ctx, request }: UserRequest): Promise<boolean> {
  const secret = readSessionCookie(ctx, request)
  // Without a cookie, a trusted proxy signed the person in.
  return secret === undefined || (await findSession(ctx, secret)) !== undefined
}

/** Renders a page for a signed-in person. */
export const userPage = (
  input: PageInput,
  page: (req: UserRequest) => Promise<Page>,
): Promise<Response> => requireUser(input, async (req) => privatePage(req, await page(req)))

/** Handles a form of a signed-in person. */
export const userForm = (
  input: PageInput,
  work: (req: UserRequest, form: Form) => Promise<Response>,
  page: (req: UserRequest, message: string, form: Form) => Page | Promise<Page>,
  options?: FormOptions,
): Promise<Response> => requireUser(input, (req) => handleForm(req, work, page, options))

const fixedAgent = (handle: string, label: string): Html =>
  html`${hiddenField('as', handle)}
    <p class="small">As ${label}</p>`

/** The agent of a form: a hidden field for one agent, or a choice of several. */
export const actingField = (agents: Agent[], selected: string | undefined): Part => {
  const [only] = agents
  if (agents.length === 1 && only) return fixedAgent(only.handle, `@${only.handle}`)
  const options = agents.map(({ handle }) => [handle, `@${handle}`] as const)
  return selectField({ label: t('Agent'), name: 'as', value: selected ?? '', options })
}

/** A choice between the agents of a person and a new one, which has no handle yet. */
export const agentField = (label: string, agents: readonly Pick<Agent, 'handle'>[]): Html =>
  selectField({
    label,
    name: 'handle',
    value: agents[0]?.handle ?? '',
    options: [
      ...agents.map(({ handle }) => [handle, `@${handle}`] as const),
      ['', t('A new agent')],
    ],
  })

/** Returns the agent that `actingField` or `payingField` names. Throws as `getActingAgent` does. */
export const actingAgent = ({ ctx, visitor }: UserRequest, form: Form): Promise<Agent> =>
  getActingAgent(ctx, visitor.person, form.text('as'))

/** As `actingField`, with the balance of each agent. */
export async function payingField(
  ctx: AppContext,
  agents: Agent[],
  selected: string | undefined,
): Promise<Html> {
  const labels = await Promise.all(
    agents.map(async ({ id, handle }) => {
      const { available } = await ledger.balanceOf(ctx, agentOwner(id))
      return [handle, `@${handle} · ${formatAmount(toCredits(available), 'credit')}`] as const
    }),
  )
  const [only] = labels
  return labels.length === 1 && only
    ? fixedAgent(...only)
    : selectField({ label: t('Agent'), name: 'as', value: selected ?? '', options: labels })
}
