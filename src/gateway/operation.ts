import type { OpenAPIV3 } from 'openapi-types'

import type { GatewayErrorName } from '../errors.ts'
import { type Operation, operationBuilder, paymentErrors } from '../http/operation.ts'
import { errorSchemas } from './error-response.ts'

/** The areas of document 2. */
export type Tag = 'Models' | 'Chat' | 'Media' | 'Files' | 'Account'

/** Errors of operations that an upstream provider serves. */
export const upstreamErrors = [
  'model_unavailable',
  'gateway_unavailable',
  'upstream_busy',
  'content_policy',
  'guardrail_refused',
  'guardrail_failed',
  'upstream_failed',
  'upstream_rejected',
  'no_content',
  'unreadable',
  'deadline',
] as const

/** Errors of operations that hold credits. */
export const paidErrors = ['too_large', 'try_again'] as const

const idempotencyKey: OpenAPIV3.ParameterObject = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  description:
    'Names this request. A repeated request with the same body gets the same response and is charged once.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}

/** Returns the builder of operations of a key whose errors have these schemas. */
export const keyOperationWith = (schemas: typeof errorSchemas) =>
  operationBuilder<Tag, GatewayErrorName, { key: Operation }>(schemas, {
    auth: 'key',
    errors: ['no_key', 'bad_key', 'key_expired', 'key_rate', 'rate_limited'],
    security: [{ key: [] }],
    macro: (operation) => ({ key: operation }),
    idempotencyErrors: ['ref_conflict', 'busy'],
    paymentErrors,
    idempotencyHeader: idempotencyKey,
  })

/** Declares an operation of a gateway key or an agent key. */
export const keyOperation = keyOperationWith(errorSchemas)

/** Returns the builder of operations without authentication whose errors have these schemas. */
export const publicOperationWith = (schemas: typeof errorSchemas) =>
  operationBuilder<Tag, GatewayErrorName, { public: Operation }>(schemas, {
    auth: 'none',
    errors: ['rate_limited'],
    security: [],
    macro: (operation) => ({ public: operation }),
  })

/** Declares an operation without authentication. */
export const publicOperation = publicOperationWith(errorSchemas)
