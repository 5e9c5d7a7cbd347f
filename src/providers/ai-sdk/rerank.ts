import type { RerankingModelV4 } from '@ai-sdk/provider'

import { itemsOf, type Json, recordOf } from '../../core/schema.ts'
import { asString } from '../response.ts'

/** Sorts documents by their relevance. `meta` has the units that Cohere bills. */
export async function rerank(
  model: RerankingModelV4,
  body: Json,
  signal: AbortSignal,
): Promise<Response> {
  const { ranking, response } = await model.doRerank({
    query: asString(body.query),
    documents: { type: 'text', values: itemsOf(body.documents).map(asString) },
    abortSignal: signal,
    ...(typeof body.top_n === 'number' && { topN: body.top_n }),
  })
  const results = ranking.map(({ index, relevanceScore }) => ({
    index,
    relevance_score: relevanceScore,
  }))
  const { meta } = recordOf(response?.body)
  return Response.json({ results, meta })
}
