import type { Config } from '../../config/settings.ts'
import { isRecord, recordOf } from '../../core/schema.ts'
import { searchResultCharsMax, searchResultsMax } from '../../limits.ts'
import { asString } from '../response.ts'

/** A found page. Its text is untrusted. */
export interface SearchResult {
  title: string
  url: string
  text: string
}

/** A search engine with an HTTP API. */
export interface SearchEngine {
  name: string
  request(query: string): Request
  /** Reads the pages of a response. */
  read(response: unknown): SearchResult[]
}

/** Creates the configured engines, in the order of use. */
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

/** A self-hosted SearXNG, with the format `json` enabled. */
export const searxng = (base: string): SearchEngine => ({
  name: 'searxng',
  request: (query) => get(`${base}/search?${new URLSearchParams({ q: query, format: 'json' })}`),
  read: (response) => readResults(response, 'content'),
})

export const brave = (key: string, base = 'https://api.search.brave.com'): SearchEngine => ({
  name: 'brave',
  request: (query) => {
    const params = new URLSearchParams({ q: query, count: String(searchResultsMax) })
    return get(`${base}/res/v1/web/search?${params}`, { 'x-subscription-token': key })
  },
  read: (response) => readResults(recordOf(response).web, 'description'),
})

export const tavily = (key: string, base = 'https://api.tavily.com'): SearchEngine => ({
  name: 'tavily',
  request: (query) => {
    const headers = { authorization: `Bearer ${key}` }
    return post(`${base}/search`, headers, { query, max_results: searchResultsMax })
  },
  read: (response) => readResults(response, 'content'),
})

export const exa = (key: string, base = 'https://api.exa.ai'): SearchEngine => ({
  name: 'exa',
  request: (query) => {
    const contents = { text: { maxCharacters: searchResultCharsMax } }
    const headers = { 'x-api-key': key }
    return post(`${base}/search`, headers, { query, numResults: searchResultsMax, contents })
  },
  read: (response) => readResults(response, 'text'),
})

/** Reads the list `results` of any engine. Throws TypeError when it is missing. */
function readResults(response: unknown, textName: string): SearchResult[] {
  const { results } = recordOf(response)
  if (!Array.isArray(results)) throw new TypeError('no results')
  return results.filter(isRecord).flatMap((page) => {
    const { url, title, [textName]: text } = page
    if (typeof url !== 'string' || !/^https?:\/\//.test(url) || !URL.canParse(url)) return []
    return [{ url, title: asString(title) || url, text: asString(text) }]
  })
}
