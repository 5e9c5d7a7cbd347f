import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { Success, withHeaders } from '../../kernel/http/outcome.ts'
import { listedModelsMax } from '../../kernel/limits.ts'
import { recordOf } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { requireModel } from '../catalog/catalog.ts'
import { modelOperation } from '../catalog/operations.ts'
import { createChat } from '../chat/chat.ts'
import { invalidField } from '../fields.ts'
import { pageAfter } from '../list.ts'
import type { Model } from '../models/catalog.ts'
import type { ModelType } from '../models/price.ts'
import { chatErrors, ChunksSchema } from '../openai-chat/schemas.ts'
import { mediaErrors, operationsOf, paidOperation } from '../operation.ts'
import { rerankRequestSchema, sortDocuments } from '../rerank/operations.ts'
import { CohereErrorSchema } from './client-api.ts'
import { cohereEmbed } from './embed.ts'
import * as schemas from './schemas.ts'
import type { CohereModel, CohereModelList, ModelListQuery } from './schemas.ts'
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

const rerankDocuments = paidOperation({
  id: 'cohere_rerank',
  route: 'POST /rerank',
  tag: 'Media',
  summary: "Sort documents by their relevance with Cohere's API.",
  input: rerankRequestSchema,
  output: [schemas.CohereRerankSchema],
  envelope: CohereErrorSchema,
  errors: mediaErrors,
  run: cohereRerank,
})

const listCohereModels = operation({
  ...modelOperation.list,
  id: 'list_cohere_models',
  summary: 'List the models for chats, embeddings and reranking.',
  input: { query: schemas.ModelListQuerySchema },
  output: { 200: schemas.CohereModelListSchema },
  run: (ctx, { query }) => listModels(ctx, query),
})

const getCohereModel = operation({
  ...modelOperation.get,
  id: 'get_cohere_model',
  output: { 200: schemas.CohereModelSchema },
  run: (ctx, { params }) => present(requireModel(ctx, params['*'])),
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
export const operations = [
  createCohereChat,
  rerankDocuments,
  embedOperation('cohere_embed', '2'),
  listCohereModels,
  getCohereModel,
]

/** Routes of the first version of Cohere's API that no other API has. */
export const operationsV1 = [embedOperation('cohere_embed_v1', '1')]

const pageSizeDefault = 20

/** Cohere's names of the operations that a type of model serves; the others have none. */
const endpointsByType: Partial<Record<ModelType, string[]>> = {
  chat: ['chat'],
  embedding: ['embed'],
  rerank: ['rerank'],
}

/**
 * Lists the models of Cohere's operations in its pages. The token of a page is the last id before
 * it. Throws `bad_request`.
 */
function listModels({ catalog }: AppContext, query: ModelListQuery): CohereModelList {
  const { page_size = pageSizeDefault, page_token, endpoint, default_only } = query
  if (default_only === 'true') {
    throw invalidField('default_only', 'No operation has a default model. Remove default_only.')
  }
  const size = requireWhole('page_size', page_size, listedModelsMax)
  const models = catalog
    .list(['chat', 'embedding', 'rerank'])
    .filter(({ type }) => !endpoint || endpointsByType[type]?.includes(endpoint))
  const { page, hasMore } = pageAfter(models, page_token || undefined, size, 'page_token')
  const last = page.at(-1)
  return { models: page.map(present), ...(hasMore && last && { next_page_token: last.id }) }
}

const present = ({ id, type, inputs, supportsTools, contextLength }: Model): CohereModel => ({
  name: id,
  is_deprecated: false,
  endpoints: endpointsByType[type] ?? [],
  finetuned: false,
  context_length: contextLength,
  tokenizer_url: null,
  default_endpoints: [],
  features: [...(supportsTools ? ['tools'] : []), ...(inputs.includes('image') ? ['vision'] : [])],
})

/**
 * Sorts documents in the format of Cohere's second version: the same call as POST /v1/rerank.
 * Throws its errors.
 */
async function cohereRerank(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
): Promise<CallOutcome> {
  const outcome = await sortDocuments(ctx, spender, raw, call)
  if (!(outcome instanceof Success)) return outcome
  const { id, results, usage } = recordOf(outcome.value)
  const { prompt_tokens: tokens, search_units, cost } = recordOf(usage)
  const meta = {
    api_version: { version: '2' },
    billed_units: { search_units },
    tokens: { input_tokens: tokens },
    cost,
  }
  return withHeaders({ id, results, meta }, outcome.headers)
}
