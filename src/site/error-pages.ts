import { kinds } from '../apps/kinds.ts'
import { findOwnedItem } from '../apps/owners/owned-agents.ts'
import { invalidCursor } from '../kernel/cursor.ts'
import { type ApiError, type HostingErrorName, isApiError } from '../kernel/errors.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { methodList } from '../kernel/http/allowed-methods.ts'
import { decodePath } from '../kernel/http/path.ts'
import { pathOf } from '../kernel/http/request-context.ts'
import { endWithStop } from '../kernel/text.ts'
import { msg, t, type Text } from '../kernel/words/message.ts'
import { seeOnPage } from '../people/error-messages/table.ts'
import { describeError, internalErrorBody, knownError } from '../people/error-response.ts'
import { messagePage } from './components.ts'
import { button, codeField } from './forms.ts'
import { type Page, pageResponse } from './layout.ts'
import { findUser, type PageInput, privatePage } from './session.ts'

const titles: Record<number, Text> = {
  400: msg('Invalid request'),
  403: msg('Not allowed'),
  404: msg('Page not found'),
  409: msg('Conflict'),
  410: msg('No longer available'),
  413: msg('Too large'),
  429: msg('Too many requests'),
}

/** Titles of errors that say more than their status. */
const errorTitles: Partial<Record<HostingErrorName, Text>> = {
  bad_code: msg('Claim code not valid'),
  code_used: msg('Claim code already used'),
  code_expired: msg('Claim code expired'),
  claim_locked: msg('Too many wrong claim codes'),
  taken_down: msg('Taken down'),
  run_not_found: msg('Run not found'),
}

/** Titles of what was not found, by its name in the error. */
const missingTitles = new Map([
  ['app', msg('App not found')],
  ['request', msg('Request no longer kept')],
  ['model', msg('Model not found')],
  ['collection', msg('Collection not found')],
])

/** Lists that parts of the site lead back to, the longest path first. */
const places = [
  ['/console/requests', msg('All requests')],
  ['/console', msg('Console')],
  ['/studio', msg('Your studio')],
  ['/agents', msg('Your agents')],
  ['/claim', msg('Your agents'), '/agents'],
  ['/wallet/history', msg('Usage')],
  ['/wallet', msg('Wallet')],
  ['/account', msg('Account')],
  ['/notifications', msg('Notifications')],
  ['/collections', msg('Your collections')],
  ['/catalogue', msg('All models')],
  ['/docs/api', msg('All operations')],
  ['/docs', msg('Docs')],
] as const

const linkButton = (href: string, label: Text, style = ''): Html =>
  html`<a class="button${style}" href="${href}">${label}</a>`

const home = linkButton('/', msg('Home'), ' quiet')
const explore = html`${linkButton('/explore', msg('Go to Explore'))}${home}`

/** Leads to the list that the path belongs to, or to Explore. */
function actionsOf(path: string): Html {
  const found = places.find(([start]) => path.startsWith(`${start}/`))
  if (!found) return explore
  const [start, label, href = start] = found
  return html`${linkButton(href, label)}${home}`
}

/** The page of an unknown path. */
export const notFoundPage = (): Page =>
  messagePage(t('Page not found'), t('There is no page at this address.'), explore, 404)

/** The page of a path without this method: 405 with `allowed`, or 404 without any. */
export function unknownPage(method: string, allowed: readonly string[]): Page {
  if (allowed.length === 0) return notFoundPage()
  const text = t('This address does not support {method}. Use {methodList}.', {
    method,
    methodList: methodList(allowed),
  })
  const headers = { allow: allowed.join(', ') }
  return { ...messagePage(t('Method not allowed'), text, explore, 405), headers }
}

/**
 * The page of an expected error, whose first button is the next step that its text names; undefined
 * for an internal error.
 */
export async function errorPage(input: PageInput, error: unknown): Promise<Page | undefined> {
  const expected = describeError(error)
  const known = knownError(error)
  if (!expected || !known) return undefined
  const { status, headers } = expected
  const own = await ownTakedown(input, known).catch(() => undefined)
  const missing = missingOf(known)
  const page = messagePage(
    missing?.title ?? titleOf(known, status),
    own?.text ?? missing?.text ?? expected.message,
    own?.actions ?? nextStep(input, known),
    status,
  )
  return { ...page, headers }
}

/** The title that says what is missing, and the text that says where to look. */
function missingOf(error: ApiError<HostingErrorName>) {
  if (!isApiError(error, 'not_found')) return undefined
  const [{ what, see }] = error.details
  const title = missingTitles.get(what)
  return title && { title, text: see && seeOnPage(see) }
}

function titleOf({ errorName }: ApiError<HostingErrorName>, status: number): Text {
  const fallback = status < 500 ? t('Request failed') : t('Temporarily unavailable')
  return errorTitles[errorName] ?? titles[status] ?? fallback
}

function nextStep({ request, query }: PageInput, error: ApiError<HostingErrorName>): Part {
  const path = pathOf(request.url)
  if (isApiError(error, 'bad_request') && error.details[0].problem === invalidCursor) {
    return html`${linkButton(firstPageOf(path, query), msg('First page'))}${home}`
  }
  if (path.startsWith('/claim/') && error.errorName !== 'claim_locked') {
    return claimCodeForm(decodePath(path.slice('/claim/'.length)) ?? '')
  }
  return actionsOf(path)
}

/** Opens the page of another code, and needs no session. */
const claimCodeForm = (code: string): Html =>
  html`<form class="form claim-code" action="/claim">
    ${codeField(t('Claim code'), { value: code })}${button(t('Continue'))}
  </form>`

const cursorNames = ['cursor', 'reviews', 'comments']

/** Returns the path of a list without the position in it. */
function firstPageOf(path: string, query: URLSearchParams): string {
  const rest = new URLSearchParams([...query].filter(([name]) => !cursorNames.includes(name)))
  return rest.size > 0 ? `${path}?${rest}` : path
}

/** For the owner of an item that was taken down: the way to appeal. */
async function ownTakedown(input: PageInput, error: ApiError<HostingErrorName>) {
  if (!isApiError(error, 'taken_down')) return undefined
  const [{ reason, appeal }] = error.details
  const id = appeal.split('/')[2] ?? ''
  const req = await findUser(input)
  if (!req || !(await findOwnedItem(req.ctx, req.visitor.person, id, kinds))) return undefined
  return {
    text: t('The operator took this down: {reason} You can appeal in the studio.', {
      reason: endWithStop(reason),
    }),
    actions: html`${linkButton(`/studio/${id}`, msg('Open in studio and appeal'))}${home}`,
  }
}

export const internalErrorPage = (requestId: string): Page =>
  messagePage(t('Something went wrong'), internalErrorBody(requestId).error, explore, 500)

/** Sends the page of an error with the header of a signed-in person, where it can be read. */
export async function sendErrorPage(input: PageInput, page: Page): Promise<Response> {
  const req = await findUser(input).catch(() => undefined)
  return req ? privatePage(req, { section: '/', ...page }) : pageResponse(input.layout, page)
}
