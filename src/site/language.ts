import { Elysia } from 'elysia'

import { ApiError } from '../kernel/errors.ts'
import { languageCookie } from '../kernel/http/language.ts'
import { isOfferedLanguage } from '../kernel/words/language.ts'
import { redirectTo } from './session.ts'

/** Keeps the language that was chosen in this browser, and returns to the page before. */
export const languageRoutes = () =>
  new Elysia().get('/language/:code', ({ params: { code }, request }) => {
    if (!isOfferedLanguage(code)) throw new ApiError('not_found', { what: 'language' })
    return redirectTo(pathBefore(request), languageCookie(code))
  })

/** Returns the page of this site that a link was on; the home page for another site. */
function pathBefore({ url, headers }: Request): string {
  const from = URL.parse(headers.get('referer') ?? '')
  const isHere = from !== null && from.host === (headers.get('host') ?? new URL(url).host)
  // A browser would read a path that begins with two slashes as the address of another site.
  return isHere && !from.pathname.startsWith('//') ? from.pathname + from.search : '/'
}
