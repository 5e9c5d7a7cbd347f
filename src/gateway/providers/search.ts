import type { Config } from '../../kernel/config/settings.ts'
import { describeFailure, fetchJson } from '../../kernel/fetch.ts'
import { sha256 } from '../../kernel/ids.ts'
import {
  searchMs,
  searchResponseBytesMax,
  searchResultCharsMax,
  searchResultsMax,
} from '../../kernel/limits.ts'
import type { Log } from '../../kernel/log.ts'
import { asString, isRecord, recordOf } from '../../kernel/schema.ts'

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Searches the web for chat models; undefined without a search engine. */
    readonly searcher: Searcher | undefined
  }
}

/** Searches the web; undefined when no engine responds. */
export type Searcher = (query: string, signal: AbortSignal) => Promise<SearchResult[] | undefined>

/** Opens the configured engines; without one, the demo search, which finds only while `isDemo`. */
export function openSearcher(
  config: Config,
  { log, isDemo }: { log: Log; isDemo: () => boolean },
): Searcher | undefined {
  if (!config.searchOn) return undefined
  const engines = createEngines(config)
  if (engines.length > 0) return createSearcher(engines, log)
  if (!isDemo()) return undefined
  return async (...query) => (isDemo() ? demoSearch(...query) : undefined)
}

/** Creates a searcher that tries the engines in turn. Failures are logged without the query. */
export const createSearcher =
  (engines: SearchEngine[], log: Log): Searcher =>
  async (query, signal) => {
    for (const engine of engines) {
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(searchMs)])
        const bounds = { signal: limit, bytesMax: searchResponseBytesMax }
        return engine.read(await fetchJson(engine.request(query), bounds))
      } catch (error) {
        if (signal.aborted) return undefined
        log.warn('search.failed', { engine: engine.name, why: describeFailure(error) })
      }
    }
    return undefined
  }

/** Returns two invented pages without a network, always the same for the same query. */
const demoSearch: Searcher = async (query) =>
  ['first', 'second'].map((place) => ({
    title: `Demo page about ${query}: the ${place}`,
    url: `https://${place}.example/${sha256(query).slice(0, 8)}`,
    text: `What the ${place} demo page says about ${query}.`,
  }))

/** A found page. Its text is untrusted. */
export interface SearchResult {
  title: string
  url: string
  text: string
}

/** A search engine with an HTTP API. */
interface SearchEngine {
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
