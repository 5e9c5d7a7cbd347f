import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { modelTypes } from '../../config/providers.ts'
import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { publicOperation } from '../operation.ts'
import * as catalog from './catalog.ts'
import * as schemas from './schemas.ts'

const types = ['all', ...modelTypes].join('|')

/** Routes of the models and their prices (document 2, GET /v1/models), without authentication. */
export const catalogRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .get(
      '/models',
      ({ query }) => ({ object: 'list' as const, data: catalog.listModels(ctx, query.type) }),
      {
        query: Type.Object(
          {
            type: Type.Optional(
              Type.String({
                description: 'Model types, separated by commas, or all.',
                described: { pattern: `^(${types})(,(${types}))*$` },
              }),
            ),
          },
          { additionalProperties: true },
        ),
        ...publicOperation(
          { id: 'list_models', tag: 'Models', summary: 'List models and their prices.' },
          { 200: schemas.ModelListSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/models/:id',
      ({ params }) => catalog.getModel(ctx, params.id),
      publicOperation(
        { id: 'get_model', tag: 'Models', summary: 'Get a model and its price.' },
        { 200: schemas.ModelSchema },
        ['no_model', 'not_found'],
      ),
    )
    // Ids contain a slash, which some clients do not encode as %2F.
    .get('/models/*', ({ params }) => catalog.getModel(ctx, params['*']), {
      response: { 200: schemas.ModelSchema },
      detail: { hide: true },
    })
