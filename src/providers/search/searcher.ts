import type { Config } from '../../config/settings.ts'
import type { Log } from '../../core/log.ts'
import { searchAnswerBytesMax, searchMs } from '../../limits.ts'
import { askJson, whyOf } from '../ask-json.ts'
import { demoSearch } from './demo.ts'
import { type Engine, engines, type Found } from './engines.ts'

/** Searches the web; answers undefined when no engine answered. */
export type Searcher = (query: string, signal: AbortSignal) => Promise<Found[] | undefined>

/**
 * The searcher of this server: the configured engines, of which one after the other is asked until
 * one answers; the demo's where `demo` and none is configured; undefined where there is none.
 */
export function openSearcher(
  config: Config,
  { log, demo }: { log: Log; demo: boolean },
): Searcher | undefined {
  if (!config.searchOn) return undefined
  const found = engines(config)
  if (found.length > 0) return searcherOf(found, log)
  return demo ? demoSearch : undefined
}

/** Asks engines in turn; a failure is told to the operator by the engine's name alone. */
export const searcherOf =
  (asked: Engine[], log: Log): Searcher =>
  async (query, signal) => {
    for (const engine of asked) {
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(searchMs)])
        const bounds = { signal: limit, bytesMax: searchAnswerBytesMax }
        return engine.read(await askJson(engine.request(query), bounds))
      } catch (error) {
        if (signal.aborted) return undefined
        log.warn('search.failed', { engine: engine.name, why: whyOf(error) })
      }
    }
    return undefined
  }
