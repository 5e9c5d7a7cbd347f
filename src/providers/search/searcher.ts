import type { Config } from '../../config/settings.ts'
import { sha256 } from '../../core/ids.ts'
import type { Log } from '../../core/log.ts'
import { searchMs, searchResponseBytesMax } from '../../limits.ts'
import { describeFailure, fetchJson } from '../fetch-json.ts'
import { createEngines, type SearchEngine, type SearchResult } from './engines.ts'

/** Searches the web; undefined when no engine responds. */
export type Searcher = (query: string, signal: AbortSignal) => Promise<SearchResult[] | undefined>

/** Opens the configured engines, or with `demo` and no engine the demo search. */
export function openSearcher(
  config: Config,
  { log, demo }: { log: Log; demo: boolean },
): Searcher | undefined {
  if (!config.searchOn) return undefined
  const engines = createEngines(config)
  if (engines.length > 0) return createSearcher(engines, log)
  return demo ? demoSearch : undefined
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
