import { sha256 } from '../../core/ids.ts'
import type { SearchResult } from './engines.ts'

/** Returns two invented pages without a network, always the same for the same query. */
export const demoSearch = async (query: string): Promise<SearchResult[]> =>
  ['first', 'second'].map((place) => ({
    title: `Demo page about ${query}: the ${place}`,
    url: `https://${place}.example/${sha256(query).slice(0, 8)}`,
    text: `What the ${place} demo page says about ${query}.`,
  }))
