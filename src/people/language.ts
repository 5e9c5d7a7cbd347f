import type { AppContext } from '../kernel/context.ts'
import { languageOf } from '../kernel/http/accept.ts'
import { senderOf } from '../kernel/http/request-context.ts'
import { inLanguage, isLanguage, type Language } from '../kernel/words/words.ts'
import { mayBeSignedIn } from './sessions.ts'

/** Parts of a page, which have no words. Browsers name them. */
const wordless = /^(?:image|script|style|font|manifest)$/

/** Runs work in the language that the person who is signed in chose, or in that of the browser. */
export function inLanguageOf<Result>(
  ctx: AppContext,
  request: Request,
  work: () => Result | Promise<Result>,
): Result | Promise<Result> {
  const isPart = wordless.test(request.headers.get('sec-fetch-dest') ?? '')
  if (isPart || !mayBeSignedIn(request, senderOf(request).context))
    return inLanguage(languageOf(request), work)
  return findLanguage(ctx, request).then((language) => inLanguage(language, work))
}

async function findLanguage(ctx: AppContext, request: Request): Promise<Language> {
  const { findSessionUser } = await import('./session-user.ts')
  // The page itself shows why a session is closed.
  const user = await findSessionUser(ctx, senderOf(request)).catch(() => undefined)
  const chosen = user?.person.language ?? ''
  return isLanguage(chosen) ? chosen : languageOf(request)
}
