import { mediaErrors, paidOperation } from '../operation.ts'
import * as embeddings from './embeddings.ts'
import * as schemas from './schemas.ts'

const createEmbeddings = paidOperation({
  id: 'create_embeddings',
  route: 'POST /embeddings',
  tag: 'Media',
  summary: 'Create embeddings of texts.',
  description: 'Charged by input tokens. `usage.cost` and X-Service-Cost have the cost in USD.',
  input: schemas.embeddingsRequestSchema,
  output: [schemas.EmbeddingsSchema],
  errors: mediaErrors,
  run: embeddings.createEmbeddings,
})

export const embeddingOperations = [createEmbeddings]
