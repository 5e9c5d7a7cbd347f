import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { anyone, key } from '../authentication.ts'
import { callOf } from '../call.ts'
import { chatErrors } from '../chat/schemas.ts'
import type { Model } from '../models/catalog.ts'
import type { ModelType } from '../models/price.ts'
import { operationWith } from '../operation.ts'
import { GeminiErrorSchema } from './error-response.ts'
import { callMethod } from './methods.ts'
import * as schemas from './schemas.ts'
import type { GeminiModel } from './schemas.ts'

const operation = operationWith(GeminiErrorSchema)

const listGeminiModels = operation({
  id: 'list_gemini_models',
  route: 'GET /models',
  tag: 'Models',
  summary: 'List the models.',
  access: anyone,
  output: { 200: schemas.GeminiModelsSchema },
  run: (ctx) => listModels(ctx),
})

const getGeminiModel = operation({
  id: 'get_gemini_model',
  route: 'GET /models/*',
  tag: 'Models',
  summary: 'Get a model.',
  access: anyone,
  output: { 200: schemas.GeminiModelSchema },
  errors: ['no_model'],
  run: (ctx, { params }) => getModel(ctx, params['*']),
})

const callGeminiMethod = operation({
  id: 'call_gemini_method',
  route: 'POST /*',
  tag: 'Chat',
  idempotent: true,
  limits: ['holds_limit', 'searches_limit'],
  summary: 'Call a model: generateContent, streamGenerateContent, countTokens or embeddings.',
  access: key,
  input: {
    query: schemas.MethodQuerySchema,
    bodies: { 'application/json': { schema: schemas.methodRequestSchema } },
  },
  output: { 200: Type.Unsafe<Response>(schemas.MethodResponseSchema) },
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
export const geminiOperations = [listGeminiModels, getGeminiModel, callGeminiMethod]

/** The methods of each type of model; the other types have none in this API. */
const methodsByType: Partial<Record<ModelType, string[]>> = {
  chat: ['generateContent', 'countTokens'],
  embedding: ['embedContent', 'countTokens'],
}

/** Lists the chat and embedding models in the format of Google's Gemini API. */
const listModels = ({ catalog }: AppContext): { models: GeminiModel[] } => ({
  models: catalog.list(['chat', 'embedding']).map(present),
})

/** Returns a model by its id. Throws `no_model`. */
function getModel({ catalog }: AppContext, id: string): GeminiModel {
  const model = catalog.find(id)?.model
  if (!model) throw new ApiError('no_model', { model: id })
  return present(model)
}

const present = ({ id, name, type, contextLength, maxOutput }: Model): GeminiModel => ({
  name: `models/${id}`,
  version: '1',
  displayName: name,
  inputTokenLimit: contextLength,
  outputTokenLimit: maxOutput,
  supportedGenerationMethods: methodsByType[type] ?? [],
})
