import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { chatOperation } from '../chat/schemas.ts'
import { keyOperationWith, publicOperationWith } from '../operation.ts'
import { GeminiErrorSchema, geminiPrefix } from './error-response.ts'
import { callMethod } from './methods.ts'
import { getModel, listModels } from './models.ts'
import * as schemas from './schemas.ts'

const keyOperation = keyOperationWith(GeminiErrorSchema)
const publicOperation = publicOperationWith(GeminiErrorSchema)

/** Routes of Google's Gemini API (docs/spec/gateway-decisions.md, "Gemini"). */
export const geminiRoutes = (ctx: AppContext) =>
  new Elysia({ prefix: geminiPrefix })
    .use(keyAuth(ctx))
    .get(
      '/models',
      () => listModels(ctx),
      publicOperation(
        { id: 'list_gemini_models', tag: 'Models', summary: 'List the models.' },
        { 200: schemas.GeminiModelsSchema },
      ),
    )
    // Ids contain a slash, which clients do not encode as %2F.
    .get(
      '/models/*',
      ({ params }) => getModel(ctx, params['*']),
      publicOperation(
        { id: 'get_gemini_model', tag: 'Models', summary: 'Get a model.' },
        { 200: schemas.GeminiModelSchema },
        ['no_model'],
      ),
    )
    // Clients leave out `models/` before an id with a slash.
    .post(
      '/*',
      ({ params, query, spender, body, request }) =>
        callMethod(params['*'], {
          ctx,
          spender,
          raw: body,
          alt: query.alt,
          call: callOf(request),
        }),
      {
        query: schemas.MethodQuerySchema,
        ...chatOperation(
          keyOperation,
          {
            id: 'call_gemini_method',
            summary:
              'Call a model: generateContent, streamGenerateContent, countTokens or embeddings.',
            requestBodies: { 'application/json': { schema: schemas.methodRequestSchema } },
          },
          { 200: schemas.MethodResponseSchema },
          ['not_found'],
        ),
      },
    )
