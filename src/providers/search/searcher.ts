import type { Config } from '../../config/settings.ts'
import type { Log } from '../../core/log.ts'
import { searchAnswerBytesMax, searchMs } from '../../limits.ts'
import { describeFailure, fetchJson } from '../fetch-json.ts'
import { demoSearch } from './demo.ts'
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
        const bounds = { signal: limit, bytesMax: searchAnswerBytesMax }
        return engine.read(await fetchJson(engine.request(query), bounds))
      } catch (error) {
        if (signal.aborted) return undefined
        log.warn('search.failed', { engine: engine.name, why: describeFailure(error) })
      }
    }
    return undefined
  }
