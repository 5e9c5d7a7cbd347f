import { mediaErrors, paidOperation } from '../operation.ts'
import * as reranking from './rerank.ts'
import * as schemas from './schemas.ts'

const rerank = paidOperation({
  id: 'rerank',
  route: 'POST /rerank',
  tag: 'Media',
  summary: 'Sort documents by their relevance for a query.',
  description: 'Charged by search units or by input tokens, as the price of the model says.',
  input: schemas.rerankRequestSchema,
  output: [schemas.RerankSchema],
  errors: mediaErrors,
  run: reranking.rerank,
})

export const rerankOperations = [rerank]
