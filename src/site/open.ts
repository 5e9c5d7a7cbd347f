import { getLockedApp, openWithLink } from '../apps/audience/access.ts'
import { openApp } from '../apps/audience/operations.ts'
import type { AppContext } from '../kernel/context.ts'
import { html } from '../kernel/html.ts'
import { t } from '../kernel/words/message.ts'
import { narrowPage } from './components.ts'
import { form } from './form.ts'
import { alert, button, inputField, postForm } from './forms.ts'
import type { Layout, Page } from './layout.ts'
import { getPageRequest, handleForm, pageRoutes, privatePage, redirectTo } from './session.ts'

/** The ways to apps that not everyone may open: the page that asks for a password, and links. */
export const openRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/open/:id', async ({ input, params: { id } }) => {
      await getLockedApp(ctx, id)
      const req = await getPageRequest(input)
      return privatePage(req, passwordPage(id, req.token))
    })
    .post('/open/:id', async ({ input, params: { id } }) => {
      await getLockedApp(ctx, id)
      return handleForm(
        await getPageRequest(input),
        form(openApp, { params: { id }, then: `/a/${id}` }),
        (req, message) => passwordPage(id, req.token, message),
      )
    })
    .get('/open/:id/:secret', async ({ params: { id, secret } }) =>
      redirectTo(`/a/${id}`, await openWithLink(ctx, id, secret)),
    )

/** Asks for the password of an app. It shows nothing of the app. */
function passwordPage(id: string, token: string, message?: string): Page {
  const password = inputField({
    label: t('Password'),
    name: 'password',
    type: 'password',
    autocomplete: 'off',
  })
  return narrowPage(
    t('Password required'),
    html`<p class="lead">The maker of this app chose a password. Ask the maker for it.</p>
      ${alert(message)} ${postForm(token, `/open/${id}`, html`${password}${button(t('Open'))}`)}`,
  )
}
