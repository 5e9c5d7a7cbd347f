import { html } from '../core/markup.ts'
import { internalErrorBody } from '../hosting/envelope.ts'
import { type Layout, type Page, pageResponse } from './layout.ts'
import { describeError } from './messages.ts'

const titles: Record<number, string> = {
  400: 'That does not fit',
  403: 'That is not allowed',
  404: 'Nothing here',
  409: 'That cannot be done',
  410: 'No longer here',
  413: 'Too much',
  429: 'A little slower',
}

/** What could not be done and why, with a way on. */
function messagePage(title: string, words: string, status: number): Page {
  const main = html`<div class="message">
    <p class="small">${status}</p>
    <h1>${title}</h1>
    <p class="lead">${words}</p>
    <p class="acts">
      <a class="button" href="/explore">Go to Explore</a
      ><a class="button quiet" href="/">Front page</a>
    </p>
  </div>`
  return { title, main, status }
}

/** An address that leads nowhere. */
export const notFoundPage = (layout: Layout): Response =>
  pageResponse(layout, messagePage('Nothing here', 'This address leads nowhere.', 404))

/** A refusal as a page, in a person's words; undefined for what is none. */
export function errorPage(layout: Layout, error: unknown): Response | undefined {
  const refusal = describeError(error)
  if (!refusal) return undefined
  const { status, message, headers } = refusal
  const title = titles[status] ?? (status < 500 ? 'That did not work' : 'Not now')
  return pageResponse(layout, { ...messagePage(title, message, status), headers })
}

/** A fault of ours as a page. */
export const internalErrorPage = (layout: Layout, requestId: string): Response =>
  pageResponse(layout, messagePage('Something went wrong', internalErrorBody(requestId).error, 500))
