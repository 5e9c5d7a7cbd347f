import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { House } from '../../house.ts'
import { openOperation } from '../operation.ts'
import * as catalogue from './catalogue.ts'
import * as shapes from './shapes.ts'

/** The models and their prices (document 2, GET /v1/models); no key is needed. */
export const catalogueRoutes = (house: House) =>
  new Elysia()
    .get(
      '/models',
      ({ query }) => ({ object: 'list' as const, data: catalogue.list(house, query.type) }),
      {
        query: Type.Object(
          { type: Type.Optional(Type.String({ description: 'chat,image ... or all' })) },
          { additionalProperties: true },
        ),
        ...openOperation(
          { id: 'list_models', tag: 'Models', summary: 'The models and their prices.' },
          { 200: shapes.ModelList },
          'bad_request',
        ),
      },
    )
    // An id holds a slash, so it is all the rest of the path.
    .get(
      '/models/*',
      ({ params }) => catalogue.the(house, params['*']),
      openOperation(
        { id: 'get_model', tag: 'Models', summary: 'One model and its price.' },
        { 200: shapes.Model },
        'no_model',
      ),
    )
