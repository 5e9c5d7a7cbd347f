import type { App } from '../apps/apps.ts'
import { reportItem } from '../apps/moderation/operations.ts'
import { reportReasons } from '../apps/moderation/reasons.ts'
import { getReportedApp } from '../apps/moderation/reports.ts'
import type { AppContext } from '../kernel/context.ts'
import { html } from '../kernel/html.ts'
import { senderOf } from '../kernel/http/request-context.ts'
import { formBytesMax, reportCharsMax, reportContactCharsMax } from '../kernel/limits.ts'
import { msg, t } from '../kernel/words/message.ts'
import { checkSite } from '../people/session-user.ts'
import { messagePage } from './components.ts'
import { form } from './form.ts'
import { alert, button, type Form, readForm, selectField, textArea } from './forms.ts'
import type { Layout, Page } from './layout.ts'
import { publicPages } from './public-pages.ts'
import { getPageRequest, pageRoutes, withErrorPage } from './session.ts'

/** Reports of apps by people, who need no account. */
export const reportRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/report/:id', ({ params, input: { request, query } }) =>
      publicPages(ctx, layout).sendUncached(request, async () => {
        const app = await getReportedApp(ctx, params.id, senderOf(request))
        return query.has('sent') ? reportSentPage : reportPage(app)
      }),
    )
    .post('/report/:id', async ({ params, input }) => {
      const app = await getReportedApp(ctx, params.id, senderOf(input.request))
      const req = await getPageRequest(input)
      let sent: Form | undefined
      const work = async (): Promise<Response> => {
        // Reporters have no session, so there is no token: the origin check has to be enough.
        checkSite(ctx, req.request)
        sent = await readForm(req.request, formBytesMax)
        return reportForm(app.id)(req, sent)
      }
      return withErrorPage(req, work, (message) => reportPage(app, sent, message))
    })

const reportForm = (item: string) =>
  form(reportItem, {
    fields(sent) {
      const contact = sent.text('contact').trim()
      const [reason, text] = [sent.text('reason'), sent.text('text').replaceAll('\r\n', '\n')]
      return { item, reason, text, ...(contact && { contact }) }
    },
    then: `/report/${item}?sent=1`,
  })

/** Renders the report form of an app, with the error of the last attempt. */
function reportPage({ id, title }: App, sent?: Form, message?: string): Page {
  const [reason = '', text = '', contact = ''] = ['reason', 'text', 'contact'].map((name) =>
    sent?.text(name),
  )
  // No reason is preselected: some reasons quarantine an app.
  const options = [['', t('Choose a reason')], ...Object.entries(reportReasons)] as const
  const reasons = { label: t('Reason'), name: 'reason', value: reason, required: true }
  const seen = { label: t('Details'), name: 'text', value: text, max: reportCharsMax }
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
      ${button(t('Send report'))}
    </form>
  </div>`
  return { title: t('Report'), section: '/explore', main, scripts: ['submit-guard.js'] }
}

const reportSentPage = messagePage(
  msg('Report sent'),
  msg('Thank you. The operator reviews every report.'),
  html`<a class="button quiet" href="/explore">Go to Explore</a>`,
)
