import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { House } from '../../house.ts'
import { withoutKey } from '../key.ts'
import { openOperation } from '../operation.ts'
import * as catalogue from './catalogue.ts'
import * as shapes from './shapes.ts'

/** The models and their prices (document 2, GET /v1/models); no key is needed. */
export const catalogueRoutes = (house: House) =>
  new Elysia()
    .use(withoutKey())
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
          ['bad_request'],
        ),
      },
    )
    .get(
      '/models/:id',
      ({ params }) => catalogue.the(house, params.id),
      openOperation(
        { id: 'get_model', tag: 'Models', summary: 'One model and its price.' },
        { 200: shapes.Model },
        ['no_model'],
      ),
    )
    // An id holds a slash, which not every client writes as %2F.
    .get('/models/*', ({ params }) => catalogue.the(house, params['*']), {
      response: { 200: shapes.Model },
      detail: { hide: true },
    })
