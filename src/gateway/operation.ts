import { type TSchema, Type } from '@sinclair/typebox'
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
  schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
}

/** The errors of paid media operations, in the order of section 7. */
export const mediaErrors = [
  'bad_request',
  'no_price',
  'model_cannot_search',
  'not_enough_credits',
  'no_model',
  'daily_cap',
  'budget_exceeded',
  'model_not_allowed',
  ...upstreamErrors,
  ...paidErrors,
] as const

/** Returns the builder of operations of a key whose errors have this envelope, else OpenAI's. */
export const keyOperationWith = (envelope?: TSchema) =>
  operationBuilder<Tag, GatewayErrorName, { key: Operation }>(errorSchemas(envelope), {
    auth: 'key',
    errors: ['no_key', 'bad_key', 'key_expired', 'key_rate', 'rate_limited'],
    security: [{ key: [] }],
    macro: (operation) => ({ key: operation }),
    idempotencyErrors: ['ref_conflict', 'busy'],
    paymentErrors,
    idempotencyHeader: idempotencyKey,
  })

/** Declares an operation of a gateway key or an agent key. */
export const keyOperation = keyOperationWith()

/** Declares an operation of a key that holds credits for one call of a media model. */
export const mediaOperation = (
  declaration: Omit<Parameters<typeof keyOperation>[0], 'tag' | 'idempotent' | 'limits'>,
  { 200: response }: { 200: TSchema },
  errors: readonly GatewayErrorName[] = [],
) =>
  keyOperation(
    { ...declaration, tag: 'Media', idempotent: true, limits: ['holds_limit'] },
    { 200: Type.Unsafe<Response>(response) },
    [...mediaErrors, ...errors],
  )

/** Returns the same builder for operations without authentication. */
export const publicOperationWith = (envelope?: TSchema) =>
  operationBuilder<Tag, GatewayErrorName, { public: Operation }>(errorSchemas(envelope), {
    auth: 'none',
    errors: ['rate_limited'],
    security: [],
    macro: (operation) => ({ public: operation }),
  })

/** Declares an operation without authentication. */
export const publicOperation = publicOperationWith()
