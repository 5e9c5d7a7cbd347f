import type { App } from '../apps/apps.ts'
import { reportReasons } from '../apps/moderation/reasons.ts'
import { html } from '../kernel/html.ts'
import { reportCharsMax, reportContactCharsMax } from '../kernel/limits.ts'
import { messagePage } from './components.ts'
import { alert, button, type Form, selectField, textArea } from './forms.ts'
import type { Page } from './layout.ts'

interface ReportFields {
  reason: string
  text: string
  contact: string
}

export const emptyReport: ReportFields = { reason: '', text: '', contact: '' }

export const reportFields = (form: Form): ReportFields => ({
  reason: form.text('reason'),
  text: form.text('text'),
  contact: form.text('contact'),
})

/** Renders the report form of an app, with the error of the last attempt. */
export function reportPage(
  { id, title }: App,
  { reason, text, contact }: ReportFields,
  message?: string,
): Page {
  // No reason is preselected: some reasons quarantine an app.
  const options = [['', 'Choose a reason'], ...Object.entries(reportReasons)] as const
  const reasons = { label: 'Reason', name: 'reason', value: reason, required: true }
  const seen = { label: 'Details', name: 'text', value: text, max: reportCharsMax }
  const main = html`<div class="narrow">
    <h1>Report “<bdi>${title}</bdi>”</h1>
    <p>The operator reviews every report. You do not need an account.</p>
    ${alert(message)}
    <form class="form" method="post" action="/report/${id}">
      ${selectField({ ...reasons, options })}${textArea(seen)}
      <label class="field"
        ><span>Email for follow-up questions (optional)</span
        ><input
          name="contact"
          value="${contact}"
          autocomplete="email"
          dir="auto"
          maxlength="${reportContactCharsMax}"
      /></label>
      ${button('Send report')}
    </form>
  </div>`
  return { title: 'Report', section: '/explore', main, scripts: ['submit-guard.js'] }
}

export const reportSentPage = messagePage(
  'Report sent',
  'Thank you. The operator reviews every report.',
  html`<a class="button quiet" href="/explore">Go to Explore</a>`,
)
