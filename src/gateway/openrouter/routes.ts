import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { getRequestContext } from '../../http/request-context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { createChatCompletion } from '../chat/chat.ts'
import * as chat from '../chat/schemas.ts'
import { embeddingRoutes } from '../embeddings/routes.ts'
import { keyOperationWith, publicOperationWith } from '../operation.ts'
import { responseRoutes } from '../responses/routes.ts'
import { describeCredits, describeKey } from './account.ts'
import { OpenRouterErrorSchema, openRouterPrefix } from './error-response.ts'
import { getGeneration, toGeneration } from './generation.ts'
import * as models from './models.ts'
import * as schemas from './schemas.ts'

const keyOperation = keyOperationWith(OpenRouterErrorSchema)
const publicOperation = publicOperationWith(OpenRouterErrorSchema)

/**
 * Routes of OpenRouter's API (docs/spec/gateway-decisions.md, "OpenRouter"). Clients use them below
 * `/api/v1`.
 */
export const openRouterRoutes = (ctx: AppContext) =>
  new Elysia({ prefix: openRouterPrefix })
    .use(responseRoutes(ctx))
    .use(embeddingRoutes(ctx))
    .use(keyAuth(ctx))
    .post(
      '/chat/completions',
      async ({ spender, body, request }) => {
        const call = callOf(request)
        const response = await createChatCompletion(ctx, spender, body, call)
        return toGeneration(response, getRequestContext(request).id)
      },
      chat.chatOperation(
        keyOperation,
        {
          id: 'create_openrouter_chat',
          summary: 'Create a chat completion, with the id of its generation.',
          requestBodies: { 'application/json': { schema: chat.chatRequestSchema } },
        },
        { 200: Type.Union([chat.CompletionSchema, chat.ChunksSchema]) },
      ),
    )
    .get('/models', ({ query }) => models.listModels(ctx, query), {
      query: schemas.ModelsQuerySchema,
      ...publicOperation(
        { id: 'list_openrouter_models', tag: 'Models', summary: 'List the models.' },
        { 200: schemas.ModelsSchema },
        ['bad_request'],
      ),
    })
    .get('/models/user', ({ query }) => models.listModels(ctx, query), {
      query: schemas.ModelsQuerySchema,
      ...keyOperation(
        { id: 'list_openrouter_own_models', tag: 'Models', summary: 'List the models of a key.' },
        { 200: schemas.ModelsSchema },
        ['bad_request'],
      ),
    })
    .get(
      '/models/count',
      () => models.countModels(ctx),
      publicOperation(
        { id: 'count_openrouter_models', tag: 'Models', summary: 'Count the models.' },
        { 200: schemas.CountSchema },
      ),
    )
    // Ids contain a slash, which clients do not encode as %2F.
    .get(
      '/model/:author/:slug',
      ({ params: { author, slug } }) => models.getModel(ctx, `${author}/${slug}`),
      publicOperation(
        { id: 'get_openrouter_model', tag: 'Models', summary: 'Get a model.' },
        { 200: schemas.OneModelSchema },
        ['no_model'],
      ),
    )
    .get(
      '/models/:author/:slug/endpoints',
      ({ params: { author, slug } }) => models.getEndpoints(ctx, `${author}/${slug}`),
      publicOperation(
        { id: 'list_openrouter_endpoints', tag: 'Models', summary: 'List a model’s upstreams.' },
        { 200: schemas.EndpointsSchema },
        ['no_model'],
      ),
    )
    .get(
      '/providers',
      () => models.listProviders(ctx),
      publicOperation(
        { id: 'list_openrouter_providers', tag: 'Models', summary: 'List the upstreams.' },
        { 200: schemas.ProvidersSchema },
      ),
    )
    .get(
      '/key',
      ({ spender }) => describeKey(ctx, spender),
      keyOperation(
        { id: 'get_openrouter_key', tag: 'Account', summary: 'Get the spending of your key.' },
        { 200: schemas.KeySchema },
      ),
    )
    .get(
      '/credits',
      ({ spender }) => describeCredits(ctx, spender),
      keyOperation(
        { id: 'get_openrouter_credits', tag: 'Account', summary: 'Get the funds of your account.' },
        { 200: schemas.CreditsSchema },
      ),
    )
    .get('/generation', ({ spender, query }) => getGeneration(ctx, spender.account, query.id), {
      query: schemas.GenerationQuerySchema,
      ...keyOperation(
        { id: 'get_openrouter_generation', tag: 'Account', summary: 'Get the cost of a chat.' },
        { 200: schemas.GenerationSchema },
        ['bad_request', 'not_found'],
      ),
    })
