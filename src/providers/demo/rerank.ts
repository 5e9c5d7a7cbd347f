import { itemsOf } from '../../core/schema.ts'
import { asString, errorResponse } from '../response.ts'
import { vectorOf } from './embedding.ts'
import type { DemoRequest } from './request.ts'

const length = 256

/** Scores documents by the words that they share with the query: 0 to 1. */
export function rerank({ model, body }: DemoRequest): Response {
  const documents = itemsOf(body.documents).map(asString)
  const query = asString(body.query)
  if (query === '' || documents.length === 0) {
    return errorResponse(400, 'query and documents must not be empty.')
  }
  const target = vectorOf(query, length)
  const results = documents.map((text, index) => {
    const cosine = vectorOf(text, length).reduce(
      (sum, part, at) => sum + part * (target[at] ?? 0),
      0,
    )
    return { index, relevance_score: Math.min(1, Math.max(0, cosine)) }
  })
  const sorted = results.toSorted((a, b) => b.relevance_score - a.relevance_score)
  const top = typeof body.top_n === 'number' ? body.top_n : sorted.length
  return Response.json({
    model,
    results: sorted.slice(0, top),
    meta: { billed_units: { search_units: Math.ceil(documents.length / 100) } },
  })
}
