import type { Config } from '../../config/settings.ts'
import type { Log } from '../../core/log.ts'
import { searchAnswerBytesMax, searchMs } from '../../limits.ts'
import { describeFailure, fetchJson } from '../fetch-json.ts'
import { demoSearch } from './demo.ts'
import { createEngines, type SearchEngine, type SearchResult } from './engines.ts'

/** Searches the web; answers undefined when no engine answered. */
export type Searcher = (query: string, signal: AbortSignal) => Promise<SearchResult[] | undefined>

/**
 * The searcher of this server: the configured engines, of which one after the other is asked until
 * one answers; the demo's where `demo` and none is configured; undefined where there is none.
 */
export function openSearcher(
  config: Config,
  { log, demo }: { log: Log; demo: boolean },
): Searcher | undefined {
  if (!config.searchOn) return undefined
  const found = createEngines(config)
  if (found.length > 0) return createSearcher(found, log)
  return demo ? demoSearch : undefined
}

/** Asks engines in turn; a failure is told to the operator by the engine's name alone. */
export const createSearcher =
  (asked: SearchEngine[], log: Log): Searcher =>
  async (query, signal) => {
    for (const engine of asked) {
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
