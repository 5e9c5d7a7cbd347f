import { html } from '../kernel/html.ts'
import { methodList } from '../kernel/http/allowed-methods.ts'
import { msg, t, type Text } from '../kernel/words/message.ts'
import { describeError, internalErrorBody } from '../people/error-response.ts'
import { messagePage } from './components.ts'
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

const actions = html`<a class="button" href="/explore">Go to Explore</a
  ><a class="button quiet" href="/">Home</a>`

/** The page of an unknown path. */
export const notFoundPage = (): Page =>
  messagePage(t('Page not found'), t('There is no page at this address.'), actions, 404)

/** The page of a path without this method: 405 with `allowed`, or 404 without any. */
export function unknownPage(method: string, allowed: readonly string[]): Page {
  if (allowed.length === 0) return notFoundPage()
  const text = t('This address does not support {method}. Use {methodList}.', {
    method,
    methodList: methodList(allowed),
  })
  const headers = { allow: allowed.join(', ') }
  return { ...messagePage(t('Method not allowed'), text, actions, 405), headers }
}

/** The page of an expected error; undefined for an internal error. */
export function errorPage(error: unknown): Page | undefined {
  const expected = describeError(error)
  if (!expected) return undefined
  const { status, message, headers } = expected
  const title =
    titles[status] ?? (status < 500 ? t('Request failed') : t('Temporarily unavailable'))
  return { ...messagePage(title, message, actions, status), headers }
}

export const internalErrorPage = (requestId: string): Page =>
  messagePage(t('Something went wrong'), internalErrorBody(requestId).error, actions, 500)

/** Sends the page of an error with the header of a signed-in person, where it can be read. */
export async function sendErrorPage(input: PageInput, page: Page): Promise<Response> {
  const req = await findUser(input).catch(() => undefined)
  return req ? privatePage(req, { section: '/', ...page }) : pageResponse(input.layout, page)
}
