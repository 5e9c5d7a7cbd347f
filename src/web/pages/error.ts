import { html } from '../../core/markup.ts'
import { faultWords } from '../../hosting/envelope.ts'
import { type Layout, type Page, pageAnswer } from '../layout.ts'
import { refusalOf } from '../words.ts'

const names: Record<number, string> = {
  400: 'That does not fit',
  403: 'That is not allowed',
  404: 'Nothing here',
  409: 'That cannot be done',
  410: 'No longer here',
  413: 'Too much',
  429: 'A little slower',
}

/** What could not be done and why, with a way on. */
function wordPage(title: string, words: string, status: number): Page {
  const main = html`<div class="word">
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
export const missing = (layout: Layout): Response =>
  pageAnswer(layout, wordPage('Nothing here', 'This address leads nowhere.', 404))

/** A refusal as a page, in a person's words; undefined for what is none. */
export function refusalPage(layout: Layout, error: unknown): Response | undefined {
  const refusal = refusalOf(error)
  if (!refusal) return undefined
  const { status, said, headers } = refusal
  const title = names[status] ?? (status < 500 ? 'That did not work' : 'Not now')
  return pageAnswer(layout, { ...wordPage(title, said, status), headers })
}

/** A fault of ours as a page. */
export const faultPage = (layout: Layout, requestId: string): Response =>
  pageAnswer(layout, wordPage('Something went wrong', faultWords(requestId).error, 500))
