import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { html, type Part } from '../kernel/html.ts'
import { languageCookie } from '../kernel/http/accept.ts'
import { t } from '../kernel/words/message.ts'
import { isLanguage, languageCodes, languages } from '../kernel/words/words.ts'
import { setLanguage } from '../people/operations.ts'
import type { Person } from '../people/people.ts'
import { section } from './components.ts'
import { form, performAs } from './form.ts'
import { button, postForm, selectField } from './forms.ts'
import type { Layout } from './layout.ts'
import { findUser, pageRoutes, redirectTo } from './session.ts'

/**
 * Keeps the language that was chosen at the end of a page, and returns to that page. The choice is
 * the person's, or that of a browser without a session.
 */
export const languageRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get('/language/:code', async ({ params: { code }, input }) => {
    if (!isLanguage(code)) throw new ApiError('not_found', { what: 'language' })
    const before = pathBefore(input.request)
    // A page of another site changes no account.
    const req = before === undefined ? undefined : await findUser(input)
    if (req) await performAs(req, req.visitor.person, setLanguage, {}, { language: code })
    return redirectTo(before ?? '/', languageCookie(code))
  })

/** Returns the page of this site that a link was on; undefined for another site. */
function pathBefore({ url, headers }: Request): string | undefined {
  const from = URL.parse(headers.get('referer') ?? '')
  const isHere = from !== null && from.host === (headers.get('host') ?? new URL(url).host)
  // A browser would read a path that begins with two slashes as the address of another site.
  return isHere && !from.pathname.startsWith('//') ? from.pathname + from.search : undefined
}

/** The section of the account page with the language of a person. */
export const languageSection = (token: string, { language }: Person): Part =>
  section(
    t('Language'),
    postForm(
      token,
      '/account/language',
      html`${selectField({
        label: t('Language of pages'),
        name: 'language',
        value: language ?? '',
        options: [
          ['', t('As in your browser')],
          ...languageCodes.map((code) => [code, languages[code].name] as const),
        ],
      })}${button(t('Save language'), 'quiet')}`,
      'form line',
    ),
  )

export const languageForm = form(setLanguage, {
  fields: (sent) => ({ language: sent.text('language') || null }),
  then: '/account',
})
