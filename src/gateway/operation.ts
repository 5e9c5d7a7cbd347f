import { type TSchema, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../kernel/context.ts'
import type { GatewayErrorName } from '../kernel/errors.ts'
import { operationBuilder } from '../kernel/http/operation.ts'
import { key, type KeySpender } from './authentication.ts'
import { type Call, callOf, type CallOutcome, requestOf } from './call.ts'
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

/** Errors of operations that a key pays for. */
export const spendingErrors = [
  'not_enough_credits',
  'no_model',
  'daily_cap',
  'budget_exceeded',
  'model_not_allowed',
] as const

/** The errors of paid media operations, in the order of section 7. */
export const mediaErrors = [
  'bad_request',
  'no_price',
  'model_cannot_search',
  ...spendingErrors,
  ...upstreamErrors,
  ...paidErrors,
] as const

/** Returns the function that declares operations of an area, with OpenAI's errors by default. */
export const operationsOf = (tag: Tag, envelope?: TSchema) =>
  operationBuilder<GatewayErrorName>(tag, errorSchemas(envelope))

/** Paid work, as an operation declares it. */
interface PaidWork<Input, Body> {
  id: string
  route: `POST /${string}`
  tag: Tag
  /** By default the number of open holds. */
  limits?: readonly ('holds_limit' | 'searches_limit')[]
  summary: string
  description?: string
  /** The documented body. It is parsed by hand, in the order of section 7. */
  input: Input
  /** The bodies of a success. */
  output: TSchema[]
  /** That of errors; by default OpenAI's. */
  envelope?: TSchema
  errors: readonly GatewayErrorName[]
  run(
    ctx: AppContext,
    spender: KeySpender,
    body: Body,
    call: Call,
    sent: { headers: Headers },
  ): Promise<CallOutcome>
}

const paid = { idempotent: true, limits: ['holds_limit'], access: key } as const

/** Declares paid work on a JSON body. */
export const paidOperation = ({
  tag,
  input: schema,
  output,
  envelope,
  run,
  ...declared
}: PaidWork<OpenAPIV3.SchemaObject, unknown>) =>
  operationsOf(
    tag,
    envelope,
  )({
    ...paid,
    ...declared,
    input: { bodies: { 'application/json': { schema } } },
    output: { 200: Type.Unsafe<unknown>(Type.Union(output)) },
    run: (ctx, { caller, body, ...sent }) => run(ctx, caller, body, callOf(sent), sent),
  })

/** Paid work on a body that is not only JSON. `input`: the documented bodies by type. */
interface PaidUpload<Body> extends PaidWork<Record<string, OpenAPIV3.SchemaObject>, Body> {
  read(request: Request): Promise<Body>
}

/** Declares paid work on a body that `read` reads. */
export const paidUpload = <Body>({
  tag,
  input,
  output,
  envelope,
  read,
  run,
  ...declared
}: PaidUpload<Body>) =>
  operationsOf(
    tag,
    envelope,
  )({
    ...paid,
    ...declared,
    input: {
      // In an object, because the compiler cannot decide about the type of any body.
      read: async (sent) => ({ parsed: await read(requestOf(sent)) }),
      bodies: Object.fromEntries(Object.entries(input).map(([type, schema]) => [type, { schema }])),
    },
    output: { 200: Type.Unsafe<unknown>(Type.Union(output)) },
    run: (ctx, { caller, body, ...sent }) => run(ctx, caller, body.parsed, callOf(sent), sent),
  })
