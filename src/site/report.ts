import { reportItem, reportPage as reportPerson } from '../apps/moderation/operations.ts'
import { reportReasons } from '../apps/moderation/reasons.ts'
import { getReportedApp, getReportedPage } from '../apps/moderation/reports.ts'
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
import { sendUncached } from './public-pages.ts'
import { getPageRequest, pageRoutes, withErrorPage } from './session.ts'

/** A reported app, or `@handle` of a person with a public page. */
interface Reported {
  id: string
  title: string
}

/** Finds what the path of a report names. Throws `not_found` and `taken_down`. */
async function findReported(ctx: AppContext, id: string, request: Request): Promise<Reported> {
  if (!id.startsWith('@')) return getReportedApp(ctx, id, senderOf(request))
  const { profile } = await getReportedPage(ctx, id.slice(1))
  return { id: `@${profile.handle}`, title: `@${profile.handle}` }
}

/** Reports of apps and people, which need no account. */
export const reportRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/report/:id', ({ params, input }) =>
      sendUncached(input, async () => {
        const reported = await findReported(ctx, params.id, input.request)
        return input.query.has('sent') ? reportSentPage : reportPage(reported)
      }),
    )
    .post('/report/:id', async ({ params, input }) => {
      const reported = await findReported(ctx, params.id, input.request)
      const req = await getPageRequest(input)
      let sent: Form | undefined
      const work = async (): Promise<Response> => {
        // Reporters have no session, so there is no token: the origin check has to be enough.
        checkSite(ctx, req.request)
        sent = await readForm(req.request, formBytesMax)
        return reportForm(reported.id)(req, sent)
      }
      return withErrorPage(req, work, (message) => reportPage(reported, sent, message))
    })

function fieldsOf(sent: Form) {
  const contact = sent.text('contact').trim()
  const [reason, text] = [sent.text('reason'), sent.text('text').replaceAll('\r\n', '\n')]
  return { reason, text, ...(contact && { contact }) }
}

function reportForm(id: string) {
  const then = `/report/${id}?sent=1`
  return id.startsWith('@')
    ? form(reportPerson, { params: { handle: id.slice(1) }, fields: fieldsOf, then })
    : form(reportItem, { fields: (sent) => ({ item: id, ...fieldsOf(sent) }), then })
}

/** Renders the report form, with the error of the last attempt. */
function reportPage({ id, title }: Reported, sent?: Form, message?: string): Page {
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
