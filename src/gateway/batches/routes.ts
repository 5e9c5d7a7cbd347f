import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { keyOperation } from '../operation.ts'
import * as batches from './batches.ts'
import * as schemas from './schemas.ts'

/** Routes of batches (docs/spec/gateway-decisions.md, "Batches"). */
export const batchRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/batches',
      ({ spender, body, request }) => batches.create(ctx, spender, body, callOf(request)),
      keyOperation(
        {
          id: 'create_batch',
          tag: 'Chat',
          idempotent: true,
          limits: ['holds_limit'],
          summary: 'Run the requests of an uploaded file in the background.',
          description:
            'Each request is held and charged like the same call. The results are files: ' +
            'GET /v1/files/{id}/content of output_file_id and error_file_id.',
          requestBodies: { 'application/json': { schema: schemas.batchRequestSchema } },
        },
        { 200: Type.Unsafe<Response>(schemas.BatchSchema) },
        ['bad_request', 'no_file', 'files_full', 'uploads_limit', 'too_large', 'try_again'],
      ),
    )
    .get('/batches', ({ spender, query }) => batches.list(ctx, spender.account, query), {
      query: schemas.BatchListQuerySchema,
      ...keyOperation(
        { id: 'list_batches', tag: 'Chat', summary: 'List the batches of your account.' },
        { 200: schemas.BatchListSchema },
        ['bad_request'],
      ),
    })
    .get(
      '/batches/:id',
      async ({ spender, params }) =>
        batches.present(await batches.get(ctx, spender.account, params.id)),
      keyOperation(
        { id: 'get_batch', tag: 'Chat', summary: 'Get the state of a batch.' },
        { 200: schemas.BatchSchema },
        ['not_found'],
      ),
    )
    .post(
      '/batches/:id/cancel',
      async ({ spender, params }) =>
        batches.present(await batches.cancel(ctx, spender.account, params.id)),
      keyOperation(
        {
          id: 'cancel_batch',
          tag: 'Chat',
          onFullDisk: 'allow',
          summary: 'Cancel a batch. Requests that run are finished and charged.',
        },
        { 200: schemas.BatchSchema },
        ['bad_request', 'too_large', 'not_found', 'try_again'],
      ),
    )
