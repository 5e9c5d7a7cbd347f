import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { listedModelsMax } from '../../kernel/limits.ts'
import type { Json } from '../../kernel/schema.ts'
import { key } from '../authentication.ts'
import { callOf } from '../call.ts'
import { requireModel } from '../catalog/catalog.ts'
import { modelOperation } from '../catalog/operations.ts'
import { pageAfter } from '../list.ts'
import type { Model } from '../models/catalog.ts'
import type { ModelType } from '../models/price.ts'
import { chatErrors } from '../openai-chat/schemas.ts'
import { operationsOf } from '../operation.ts'
import { GeminiErrorSchema } from './client-api.ts'
import { callMethod } from './methods.ts'
import * as schemas from './schemas.ts'
import type { GeminiModel, GeminiModels, GeminiModelsQuery } from './schemas.ts'

const operation = operationsOf('Models', GeminiErrorSchema)

const listGeminiModels = operation({
  ...modelOperation.list,
  id: 'list_gemini_models',
  input: { query: schemas.GeminiModelsQuerySchema },
  output: { 200: schemas.GeminiModelsSchema },
  run: (ctx, { query }) => listModels(ctx, query),
})

const getGeminiModel = operation({
  ...modelOperation.get,
  id: 'get_gemini_model',
  output: { 200: schemas.GeminiModelSchema },
  errors: ['no_model'],
  run: (ctx, { params }) => present(requireModel(ctx, params['*'])),
})

const callGeminiMethod = operationsOf(
  'Chat',
  GeminiErrorSchema,
)({
  id: 'call_gemini_method',
  route: 'POST /*',
  idempotent: true,
  limits: ['holds_limit', 'searches_limit'],
  summary: 'Call a model: generateContent, streamGenerateContent, countTokens or embeddings.',
  access: key,
  input: {
    query: schemas.MethodQuerySchema,
    bodies: { 'application/json': { schema: schemas.methodRequestSchema } },
  },
  output: { 200: Type.Unsafe<Json>(schemas.MethodResponseSchema) },
  errors: [...chatErrors, 'not_found'],
  run: (ctx, { params, query, caller: spender, body, ...call }) =>
    callMethod(params['*'], {
      ctx,
      spender,
      raw: body,
      alt: query.alt,
      call: callOf(call),
    }),
})

/** Routes of Google's Gemini API (docs/spec/gateway-decisions.md, "Gemini"). */
export const operations = [listGeminiModels, getGeminiModel, callGeminiMethod]

/** The methods of each type of model; the other types have none in this API. */
const methodsByType: Partial<Record<ModelType, string[]>> = {
  chat: ['generateContent', 'countTokens'],
  embedding: ['embedContent', 'countTokens'],
}

const pageSizeDefault = 50

/**
 * Lists the chat and embedding models in pages of Google's Gemini API. The token of a page is the
 * last id before it. Throws `bad_request`.
 */
function listModels({ catalog }: AppContext, query: GeminiModelsQuery): GeminiModels {
  // Google's API counts 0 as none, and more than its maximum as the maximum.
  const size = Math.min(query.pageSize || pageSizeDefault, listedModelsMax)
  const models = catalog.list(['chat', 'embedding'])
  const { page, hasMore } = pageAfter(models, query.pageToken || undefined, size, 'pageToken')
  const last = page.at(-1)
  return { models: page.map(present), ...(hasMore && last && { nextPageToken: last.id }) }
}

const present = ({ id, name, type, contextLength, maxOutput }: Model): GeminiModel => ({
  name: `models/${id}`,
  version: '1',
  displayName: name,
  inputTokenLimit: contextLength,
  outputTokenLimit: maxOutput,
  supportedGenerationMethods: methodsByType[type] ?? [],
})
