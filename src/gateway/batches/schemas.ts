import { type Static, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { wholeQuery } from '../../kernel/http/list-query.ts'
import { anyObject, lenientObject, namedObject, nullable, oneOf } from '../../kernel/schema.ts'
import { batchLinesMax, batchListMax, fileIdCharsMax } from '../limits.ts'
import { listSchema } from '../list.ts'
import { endpoints } from './run-line.ts'
import { batchStatuses } from './tables.ts'

/** The documented request. batches.ts parses it. */
export const batchRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['input_file_id', 'endpoint', 'completion_window'],
  properties: {
    input_file_id: {
      type: 'string',
      minLength: 1,
      maxLength: fileIdCharsMax,
      description:
        `An uploaded JSONL file with at most ${batchLinesMax} lines ` +
        '`{ custom_id, method: "POST", url, body }`.',
    },
    endpoint: { type: 'string', enum: Object.keys(endpoints) },
    completion_window: { type: 'string', enum: ['24h'] },
    metadata: {
      type: 'object',
      nullable: true,
      additionalProperties: { type: 'string' },
      description: 'At most 16 pairs.',
    },
  },
}

const SecondsSchema = nullable(Type.Integer({ description: 'Seconds since 1970.' }))

export const BatchSchema = namedObject('Batch', {
  id: Type.String(),
  object: Type.Literal('batch'),
  endpoint: Type.String(),
  errors: nullable(
    Type.Object({
      object: Type.Literal('list'),
      data: Type.Array(
        Type.Object({
          code: Type.String(),
          message: Type.String(),
          param: nullable(Type.String()),
          line: nullable(Type.Integer()),
        }),
      ),
    }),
  ),
  input_file_id: Type.String(),
  completion_window: Type.Literal('24h'),
  status: oneOf(batchStatuses),
  output_file_id: nullable(Type.String()),
  error_file_id: nullable(Type.String()),
  created_at: Type.Integer(),
  in_progress_at: SecondsSchema,
  expires_at: Type.Integer(),
  finalizing_at: SecondsSchema,
  completed_at: SecondsSchema,
  failed_at: SecondsSchema,
  expired_at: SecondsSchema,
  cancelling_at: SecondsSchema,
  cancelled_at: SecondsSchema,
  request_counts: Type.Object({
    total: Type.Integer(),
    completed: Type.Integer(),
    failed: Type.Integer(),
  }),
  metadata: nullable(Type.Record(Type.String(), Type.String())),
})
export type BatchResponse = Static<typeof BatchSchema>

export const BatchListSchema = listSchema(BatchSchema)

export const BatchListQuerySchema = lenientObject({
  limit: Type.Optional(wholeQuery(batchListMax, `1 to ${batchListMax}.`)),
  after: Type.Optional(Type.String({ description: 'Last id of the previous page.' })),
})
export type BatchListQuery = Static<typeof BatchListQuerySchema>

export const BatchJobInputSchema = Type.Object({ batch: Type.String() })
