import { html } from '../core/markup.ts'
import type { App } from '../hosting/apps/apps.ts'
import { reportReasons } from '../hosting/reports/reasons.ts'
import { reportCharsMax, reportContactCharsMax } from '../limits.ts'
import { alert, selectField, type SubmittedForm, textArea } from './forms.ts'
import type { Page } from './layout.ts'

/** What a reporter says. */
interface ReportFields {
  reason: string
  text: string
  contact: string
}

export const emptyReport: ReportFields = { reason: '', text: '', contact: '' }

export const reportFields = (form: SubmittedForm): ReportFields => ({
  reason: form.text('reason'),
  text: form.text('text'),
  contact: form.text('contact'),
})

/** The form behind an app's report link; `said` is why it was not taken. */
export function reportPage(
  { id, title }: App,
  { reason, text, contact }: ReportFields,
  message?: string,
): Page {
  // The first reason is among those that hold an app back: nobody gives it by leaving it there.
  const options = [['', 'Choose what fits best'], ...Object.entries(reportReasons)] as const
  const reasons = { label: 'What is wrong', name: 'reason', value: reason, required: true }
  const seen = { label: 'What did you see?', name: 'text', value: text, max: reportCharsMax }
  const main = html`<div class="narrow">
    <h1>Report “<bdi>${title}</bdi>”</h1>
    <p>The operator of this place looks at every report. You need no account.</p>
    ${alert(message)}
    <form class="form" method="post" action="/report/${id}">
      ${selectField({ ...reasons, options })}${textArea(seen)}
      <label class="field"
        ><span>Where may we ask you? You may leave this out.</span
        ><input
          name="contact"
          value="${contact}"
          autocomplete="email"
          dir="auto"
          maxlength="${reportContactCharsMax}"
      /></label>
      <button class="button">Send the report</button>
    </form>
  </div>`
  return { title: 'Report', section: '/explore', main, scripts: ['submit-guard.js'] }
}

/** What follows a report. */
export const reportSentPage: Page = {
  title: 'Thank you',
  main: html`<div class="message">
    <h1>Thank you</h1>
    <p class="lead">Your report was sent. The operator of this place looks at every one.</p>
    <p class="acts"><a class="button quiet" href="/explore">Go to Explore</a></p>
  </div>`,
}
