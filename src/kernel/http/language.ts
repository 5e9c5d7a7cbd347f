import { isLanguage, type Language } from '../words/language.ts'
import { qualityValues } from './accept.ts'

const cookiePattern = /(?:^|;\s*)language=(\w+)/

/** Returns the language that was chosen in this browser; undefined for none. */
function chosenLanguage({ headers }: Request): Language | undefined {
  const chosen = cookiePattern.exec(headers.get('cookie') ?? '')?.[1] ?? ''
  return isLanguage(chosen) ? chosen : undefined
}

/** Returns the language of a request's pages: the chosen one, or the first that it accepts. */
export function languageOf(request: Request): Language {
  const chosen = chosenLanguage(request)
  if (chosen) return chosen
  const header = request.headers.get('accept-language') ?? ''
  const accepted = [...qualityValues(header)].sort(([, one], [, other]) => other - one)
  for (const [range, weight] of accepted) {
    const language = range.split('-')[0] ?? ''
    if (weight > 0 && isLanguage(language)) return language
  }
  return 'en'
}

const yearSeconds = 31_536_000

/** Returns the cookie that keeps a choice, or the one that deletes it. */
export const languageCookie = (language: Language | null): string =>
  `language=${language ?? ''}; Path=/; Max-Age=${language === null ? 0 : yearSeconds}; SameSite=Lax`
