import { html } from '../core/html.ts'
import { internalErrorBody } from '../hosting/error-response.ts'
import { messagePage } from './components.ts'
import { describeError } from './error-messages.ts'
import { type Layout, pageResponse } from './layout.ts'

const titles: Record<number, string> = {
  400: 'Invalid request',
  403: 'Not allowed',
  404: 'Page not found',
  409: 'Conflict',
  410: 'No longer available',
  413: 'Too large',
  429: 'Too many requests',
}

const actions = html`<a class="button" href="/explore">Go to Explore</a
  ><a class="button quiet" href="/">Home</a>`

/** Renders the page of an unknown path. */
export const notFoundPage = (layout: Layout): Response => {
  const text = 'There is no page at this address.'
  return pageResponse(layout, messagePage('Page not found', text, actions, 404))
}

/** Renders an expected error; returns undefined for an internal error. */
export function errorPage(layout: Layout, error: unknown): Response | undefined {
  const expected = describeError(error)
  if (!expected) return undefined
  const { status, message, headers } = expected
  const title = titles[status] ?? (status < 500 ? 'Request failed' : 'Temporarily unavailable')
  return pageResponse(layout, { ...messagePage(title, message, actions, status), headers })
}

export const internalErrorPage = (layout: Layout, requestId: string): Response => {
  const text = internalErrorBody(requestId).error
  return pageResponse(layout, messagePage('Something went wrong', text, actions, 500))
}
