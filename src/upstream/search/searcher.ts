import type { Log } from '../../core/log.ts'
import { searchAnswerBytesMax, searchMs } from '../../limits.ts'
import type { Config } from '../../settings.ts'
import { demoSearch } from './demo.ts'
import { engines } from './engines.ts'

/** A page that was found. Its words are whoever's wrote it. */
export interface Found {
  title: string
  url: string
  text: string
}

/** Searches the web; answers undefined when no engine answered. */
export type Searcher = (query: string, signal: AbortSignal) => Promise<Found[] | undefined>

/** One engine, asked over HTTP. */
export interface Engine {
  name: string
  request(query: string): Request
  /** The pages in its answer. */
  read(answer: unknown): Found[]
}

type SearchConfig = Pick<
  Config,
  'searchOn' | 'searxngUrl' | 'braveApiKey' | 'tavilyApiKey' | 'exaApiKey'
>

/**
 * The searcher of this server: the configured engines, of which one after the other is asked until
 * one answers; the demo's where `demo` and none is configured; undefined where there is none.
 */
export function openSearcher(
  config: SearchConfig,
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
        return engine.read(await ask(engine.request(query), signal))
      } catch (error) {
        if (signal.aborted) return undefined
        log.warn('search.failed', { engine: engine.name, why: whyOf(error) })
      }
    }
    return undefined
  }

/** The JSON of an answer, bounded in time and bytes. Redirects are not followed: keys go along. */
async function ask(request: Request, signal: AbortSignal): Promise<unknown> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(searchMs)])
  const answer = await fetch(request, { redirect: 'manual', signal: limit })
  if (!answer.ok) {
    await answer.body?.cancel()
    throw new NoAnswer(`status ${answer.status}`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > searchAnswerBytesMax) throw new NoAnswer('too long')
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

class NoAnswer extends Error {}

/** Errors of the network may repeat an address, and with it a key. */
const whyOf = (error: unknown): string =>
  error instanceof NoAnswer ? error.message : error instanceof Error ? error.name : 'unknown'
