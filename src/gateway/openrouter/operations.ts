import { anyone, key } from '../authentication.ts'
import { modelOperation } from '../catalog/operations.ts'
import { embeddingOperations } from '../embeddings/operations.ts'
import { createChatCompletion } from '../openai-chat/chat-completions.ts'
import * as chat from '../openai-chat/schemas.ts'
import { operationsOf, paidOperation } from '../operation.ts'
import { responseOperations } from '../responses/operations.ts'
import { describeCredits, describeKey } from './account.ts'
import { OpenRouterErrorSchema } from './error-response.ts'
import { generationId, getGeneration } from './generation.ts'
import * as models from './models.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Models', OpenRouterErrorSchema)
const accountOperation = operationsOf('Account', OpenRouterErrorSchema)

const createOpenrouterChat = paidOperation({
  id: 'create_openrouter_chat',
  route: 'POST /chat/completions',
  tag: 'Chat',
  limits: ['holds_limit', 'searches_limit'],
  summary: 'Create a chat completion, with the id of its generation.',
  input: chat.chatRequestSchema,
  output: [chat.CompletionSchema, chat.ChunksSchema],
  envelope: OpenRouterErrorSchema,
  errors: chat.chatErrors,
  run: (ctx, spender, body, call) =>
    createChatCompletion(ctx, spender, body, call, {
      flavor: 'openrouter',
      id: generationId(call.requestId),
    }),
})

const listOpenrouterModels = operation({
  ...modelOperation.list,
  id: 'list_openrouter_models',
  input: { query: schemas.ModelsQuerySchema },
  output: { 200: schemas.ModelsSchema },
  run: (ctx, { query }) => models.listModels(ctx, query),
})

const listOpenrouterOwnModels = operation({
  id: 'list_openrouter_own_models',
  route: 'GET /models/user',
  summary: 'List the models of a key.',
  access: key,
  input: { query: schemas.ModelsQuerySchema },
  output: { 200: schemas.ModelsSchema },
  errors: ['bad_request'],
  run: (ctx, { query }) => models.listModels(ctx, query),
})

const countOpenrouterModels = operation({
  id: 'count_openrouter_models',
  route: 'GET /models/count',
  summary: 'Count the models.',
  access: anyone,
  output: { 200: schemas.CountSchema },
  run: (ctx) => models.countModels(ctx),
})

const getOpenrouterModel = operation({
  id: 'get_openrouter_model',
  route: 'GET /model/:author/:slug',
  summary: 'Get a model.',
  access: anyone,
  output: { 200: schemas.OneModelSchema },
  errors: ['no_model'],
  run: (ctx, { params: { author, slug } }) => models.getModel(ctx, `${author}/${slug}`),
})

const listOpenrouterEndpoints = operation({
  id: 'list_openrouter_endpoints',
  route: 'GET /models/:author/:slug/endpoints',
  summary: 'List a model’s upstreams.',
  access: anyone,
  output: { 200: schemas.EndpointsSchema },
  errors: ['no_model'],
  run: (ctx, { params: { author, slug } }) => models.getEndpoints(ctx, `${author}/${slug}`),
})

const listOpenrouterProviders = operation({
  id: 'list_openrouter_providers',
  route: 'GET /providers',
  summary: 'List the upstreams.',
  access: anyone,
  output: { 200: schemas.ProvidersSchema },
  run: (ctx) => models.listProviders(ctx),
})

const getOpenrouterKey = accountOperation({
  id: 'get_openrouter_key',
  route: 'GET /key',
  summary: 'Get the spending of your key.',
  access: key,
  output: { 200: schemas.KeySchema },
  run: (ctx, { caller: spender }) => describeKey(ctx, spender),
})

const getOpenrouterCredits = accountOperation({
  id: 'get_openrouter_credits',
  route: 'GET /credits',
  summary: 'Get the funds of your account.',
  access: key,
  output: { 200: schemas.CreditsSchema },
  run: (ctx, { caller: spender }) => describeCredits(ctx, spender),
})

const getOpenrouterGeneration = accountOperation({
  id: 'get_openrouter_generation',
  route: 'GET /generation',
  summary: 'Get the cost of a chat.',
  access: key,
  input: { query: schemas.GenerationQuerySchema },
  output: { 200: schemas.GenerationSchema },
  errors: ['bad_request', 'not_found'],
  run: (ctx, { caller: spender, query }) => getGeneration(ctx, spender.account, query.id),
})

/**
 * Routes of OpenRouter's API (docs/spec/gateway-decisions.md, "OpenRouter"). Clients use them below
 * `/api/v1`.
 */
export const openRouterOperations = [
  ...responseOperations,
  ...embeddingOperations,
  createOpenrouterChat,
  listOpenrouterModels,
  listOpenrouterOwnModels,
  countOpenrouterModels,
  getOpenrouterModel,
  listOpenrouterEndpoints,
  listOpenrouterProviders,
  getOpenrouterKey,
  getOpenrouterCredits,
  getOpenrouterGeneration,
]
