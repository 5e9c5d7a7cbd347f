import { modelOperation } from '../catalog/operations.ts'
import { createChat } from '../chat/chat.ts'
import { chatErrors, ChunksSchema } from '../openai-chat/schemas.ts'
import { mediaErrors, operationsOf, paidOperation } from '../operation.ts'
import { rerankRequestSchema } from '../rerank/schemas.ts'
import { cohereEmbed } from './embed.ts'
import { CohereErrorSchema } from './error-response.ts'
import * as models from './models.ts'
import { cohereRerank as rerank } from './rerank.ts'
import * as schemas from './schemas.ts'
import { cohereChat } from './write.ts'

const operation = operationsOf('Models', CohereErrorSchema)

const createCohereChat = paidOperation({
  id: 'create_cohere_chat',
  route: 'POST /chat',
  tag: 'Chat',
  limits: ['holds_limit', 'searches_limit'],
  summary: "Create a chat with Cohere's API, whole or as a stream.",
  input: schemas.cohereChatRequestSchema,
  output: [schemas.CohereChatSchema, ChunksSchema],
  envelope: CohereErrorSchema,
  errors: chatErrors,
  run: (ctx, spender, raw, call) =>
    // A replay under the same Idempotency-Key has the same id.
    createChat(ctx, spender, call, cohereChat(raw, call.idempotencyKey ?? call.requestId)),
})

const cohereRerank = paidOperation({
  id: 'cohere_rerank',
  route: 'POST /rerank',
  tag: 'Media',
  summary: "Sort documents by their relevance with Cohere's API.",
  input: rerankRequestSchema,
  output: [schemas.CohereRerankSchema],
  envelope: CohereErrorSchema,
  errors: mediaErrors,
  run: rerank,
})

const listCohereModels = operation({
  ...modelOperation.list,
  id: 'list_cohere_models',
  summary: 'List the models for chats, embeddings and reranking.',
  input: { query: schemas.ModelListQuerySchema },
  output: { 200: schemas.CohereModelListSchema },
  run: (ctx, { query }) => models.listModels(ctx, query),
})

const getCohereModel = operation({
  ...modelOperation.get,
  id: 'get_cohere_model',
  output: { 200: schemas.CohereModelSchema },
  run: (ctx, { params }) => models.getModel(ctx, params['*']),
})

/** Declares the operation that creates embeddings in a version of Cohere's API. */
const embedOperation = (id: string, version: '1' | '2') =>
  paidOperation({
    id,
    route: 'POST /embed',
    tag: 'Media',
    summary: `Create embeddings of texts with version ${version} of Cohere's API.`,
    input: schemas.embedRequestSchema,
    output: [schemas.CohereEmbedSchema],
    envelope: CohereErrorSchema,
    errors: mediaErrors,
    run: (ctx, spender, raw, call) => cohereEmbed(ctx, spender, raw, call, version),
  })

/** Routes of Cohere's API (docs/spec/gateway-decisions.md, "Cohere"). */
export const cohereOperations = [
  createCohereChat,
  cohereRerank,
  embedOperation('cohere_embed', '2'),
  listCohereModels,
  getCohereModel,
]

/** Routes of the first version of Cohere's API that no other API has. */
export const cohereV1Operations = [embedOperation('cohere_embed_v1', '1')]
