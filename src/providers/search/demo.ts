import { sha256 } from '../../core/ids.ts'
import type { SearchResult } from './engines.ts'

/** Finds two made-up pages, the same for the same words, without a network. */
export const demoSearch = async (query: string): Promise<SearchResult[]> =>
  ['first', 'second'].map((place) => ({
    title: `Demo page about ${query}: the ${place}`,
    url: `https://${place}.example/${sha256(query).slice(0, 8)}`,
    text: `What the ${place} demo page says about ${query}.`,
  }))
