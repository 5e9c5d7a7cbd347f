import type { TSchema } from '@sinclair/typebox'

import type { GatewayErrorName } from '../kernel/errors.ts'
import { operationBuilder } from '../kernel/http/operation.ts'
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

/** Declares operations whose errors have this envelope, else OpenAI's. */
export const operationWith = (envelope?: TSchema) =>
  operationBuilder<Tag, GatewayErrorName>(errorSchemas(envelope))

/** Declares an operation of the gateway. */
export const operation = operationWith()
