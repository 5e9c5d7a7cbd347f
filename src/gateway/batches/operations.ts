import { key } from '../authentication.ts'
import { callOf } from '../call.ts'
import { operationsOf } from '../operation.ts'
import * as batches from './batches.ts'

const operation = operationsOf('Chat')

const createBatch = operation({
  id: 'create_batch',
  route: 'POST /batches',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Run the requests of an uploaded file in the background.',
  description:
    'Each request is held and charged like the same call. The results are files: ' +
    'GET /v1/files/{id}/content of output_file_id and error_file_id.',
  access: key,
  input: { bodies: { 'application/json': { schema: batches.batchRequestSchema } } },
  output: { 200: batches.BatchSchema },
  errors: ['bad_request', 'no_file', 'files_full', 'uploads_limit', 'too_large', 'try_again'],
  run: (ctx, { caller: spender, body, ...call }) =>
    batches.create(ctx, spender, body, callOf(call)),
})

const listBatches = operation({
  id: 'list_batches',
  route: 'GET /batches',
  summary: 'List the batches of your account.',
  access: key,
  input: { query: batches.BatchListQuerySchema },
  output: { 200: batches.BatchListSchema },
  errors: ['bad_request'],
  run: (ctx, { caller: spender, query }) => batches.list(ctx, spender.account, query),
})

const getBatch = operation({
  id: 'get_batch',
  route: 'GET /batches/:id',
  summary: 'Get the state of a batch.',
  access: key,
  output: { 200: batches.BatchSchema },
  errors: ['not_found'],
  run: async (ctx, { caller: spender, params }) =>
    batches.present(await batches.get(ctx, spender.account, params.id)),
})

const cancelBatch = operation({
  id: 'cancel_batch',
  route: 'POST /batches/:id/cancel',
  onFullDisk: 'allow',
  summary: 'Cancel a batch. Requests that run are finished and charged.',
  access: key,
  output: { 200: batches.BatchSchema },
  errors: ['bad_request', 'too_large', 'not_found', 'try_again'],
  run: async (ctx, { caller: spender, params }) =>
    batches.present(await batches.cancel(ctx, spender.account, params.id)),
})

/** Routes of batches (docs/spec/gateway-decisions.md, "Batches"). */
export const batchOperations = [createBatch, listBatches, getBatch, cancelBatch]
