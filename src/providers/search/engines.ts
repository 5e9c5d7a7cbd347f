import type { Config } from '../../config/settings.ts'
import { isRecord } from '../../core/schema.ts'
import { searchResultCharsMax, searchResultsMax } from '../../limits.ts'
import { asString } from '../response.ts'

/** A page that was found. Its words are whoever's wrote it. */
export interface SearchResult {
  title: string
  url: string
  text: string
}

/** One engine, asked over HTTP. */
export interface SearchEngine {
  name: string
  request(query: string): Request
  /** The pages in its answer. */
  read(answer: unknown): SearchResult[]
}

/** The engines that are configured, in the order they are asked. */
export function createEngines({
  searxngUrl,
  braveApiKey,
  tavilyApiKey,
  exaApiKey,
}: Config): SearchEngine[] {
  return [
    ...(searxngUrl ? [searxng(searxngUrl)] : []),
    ...(braveApiKey ? [brave(braveApiKey)] : []),
    ...(tavilyApiKey ? [tavily(tavilyApiKey)] : []),
    ...(exaApiKey ? [exa(exaApiKey)] : []),
  ]
}

const get = (url: string, headers: Record<string, string> = {}): Request =>
  new Request(url, { headers: { accept: 'application/json', ...headers } })

const post = (url: string, headers: Record<string, string>, body: object): Request =>
  new Request(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** A SearXNG of one's own; its settings must allow the format json. */
export const searxng = (base: string): SearchEngine => ({
  name: 'searxng',
  request: (query) => get(`${base}/search?${new URLSearchParams({ q: query, format: 'json' })}`),
  read: (answer) => pages(answer, 'content'),
})

export const brave = (key: string, base = 'https://api.search.brave.com'): SearchEngine => ({
  name: 'brave',
  request: (query) => {
    const asked = new URLSearchParams({ q: query, count: String(searchResultsMax) })
    return get(`${base}/res/v1/web/search?${asked}`, { 'x-subscription-token': key })
  },
  read: (answer) => pages(isRecord(answer) ? answer.web : undefined, 'description'),
})

export const tavily = (key: string, base = 'https://api.tavily.com'): SearchEngine => ({
  name: 'tavily',
  request: (query) => {
    const headers = { authorization: `Bearer ${key}` }
    return post(`${base}/search`, headers, { query, max_results: searchResultsMax })
  },
  read: (answer) => pages(answer, 'content'),
})

export const exa = (key: string, base = 'https://api.exa.ai'): SearchEngine => ({
  name: 'exa',
  request: (query) => {
    const contents = { text: { maxCharacters: searchResultCharsMax } }
    const headers = { 'x-api-key': key }
    return post(`${base}/search`, headers, { query, numResults: searchResultsMax, contents })
  },
  read: (answer) => pages(answer, 'text'),
})

/** The list `results` that all of them answer. Throws when there is none. */
function pages(held: unknown, textName: string): SearchResult[] {
  const results: unknown = isRecord(held) ? held.results : undefined
  if (!Array.isArray(results)) throw new TypeError('no results')
  return results.filter(isRecord).flatMap((page) => {
    const { url, title, [textName]: text } = page
    if (typeof url !== 'string' || !/^https?:\/\//.test(url) || !URL.canParse(url)) return []
    return [{ url, title: asString(title) || url, text: asString(text) }]
  })
}
