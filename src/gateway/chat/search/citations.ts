import type { Found } from '../../../providers/search/engines.ts'

/** A page that an answer stands on, as OpenAI's clients read it. */
export interface Citation {
  type: 'url_citation'
  url_citation: { url: string; title: string; start_index: number; end_index: number }
}

/**
 * The pages that a text names, with where their addresses stand in it; where it names none, every
 * page its model was shown, at its end.
 */
export function citationsIn(text: string, pages: Found[]): Citation[] {
  const unique = [...new Map(pages.map((page) => [page.url, page])).values()]
  const named = unique.filter(({ url }) => text.includes(url))
  return (named.length > 0 ? named : unique).map(({ url, title }) => {
    const at = text.indexOf(url)
    const start_index = at < 0 ? text.length : at
    const end_index = at < 0 ? text.length : at + url.length
    return { type: 'url_citation', url_citation: { url, title, start_index, end_index } }
  })
}
