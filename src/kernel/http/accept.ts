import { isLanguage, type Language } from '../words/words.ts'

/** Returns the weights of an Accept header in its order: 0 is not acceptable (RFC 9110, 12.4.2). */
export function qualityValues(header: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const part of header.toLowerCase().split(',').slice(0, 20)) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    const weight = q === undefined ? 1 : Number(q.slice(2))
    if (name !== '') found.set(name, weight >= 0 && weight <= 1 ? weight : 0)
  }
  return found
}

/**
 * Returns whether a request names a media type and prefers it to `other`: by weight, then by order.
 * Many clients send text/plain after application/json without a weight.
 */
export function prefers({ headers }: { headers: Headers }, type: string, other: string): boolean {
  const found = qualityValues(headers.get('accept') ?? '')
  const weight = found.get(type) ?? 0
  const ranges = [other, other.replace(/\/.*/, '/*'), '*/*']
  const rest = ranges.map((range) => found.get(range)).find((one) => one !== undefined) ?? 0
  if (weight === 0 || weight !== rest) return weight > rest
  const order = [...found.keys()]
  return !found.has(other) || order.indexOf(type) < order.indexOf(other)
}

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
