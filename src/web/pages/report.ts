import { html } from '../../core/markup.ts'
import type { App } from '../../hosting/apps/apps.ts'
import { reportReasons } from '../../hosting/moderation/reasons.ts'
import type { Page } from '../layout.ts'

/** The form behind an app's report link. */
export function reportPage({ id, title }: App): Page {
  const options = Object.entries(reportReasons).map(
    ([reason, words]) => html`<option value="${reason}">${words}</option>`,
  )
  const main = html`<h1>Report “<bdi>${title}</bdi>”</h1>
    <p>The operator of this place looks at every report. You need no account.</p>
    <form class="form" method="post" action="/report/${id}">
      <label class="field"
        >What is wrong<select name="reason" required>
          ${options}
        </select></label
      >
      <label class="field"
        >What did you see?<textarea name="text" rows="5" maxlength="1000"></textarea>
      </label>
      <label class="field"
        >Where may we ask you? You may leave this out.<input name="contact" maxlength="200"
      /></label>
      <button class="button">Send the report</button>
    </form>`
  return { title: 'Report', main }
}

/** What follows a report. */
export const thanksPage: Page = {
  title: 'Thank you',
  main: html`<div class="word">
    <h1>Thank you</h1>
    <p class="lead">Your report was sent. The operator of this place looks at every one.</p>
    <p class="acts"><a class="button quiet" href="/explore">Go to Explore</a></p>
  </div>`,
}
