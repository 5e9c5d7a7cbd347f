import type { TSchema } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { GatewayErrorName } from '../errors.ts'
import { refusing } from './envelope.ts'

/** The areas of document 2. */
export type Tag = 'Models' | 'Chat' | 'Media' | 'Files' | 'Account'

/** What the description says of one operation. */
interface Words {
  /** The operationId, a snake_case verb. */
  id: string
  tag: Tag
  /** One line. */
  summary: string
  /** What else a caller should know, in one to three sentences. */
  more?: string
  /** The body by media type, where it is no JSON that the route's own `body` describes. */
  takes?: Record<string, { schema: OpenAPIV3.SchemaObject }>
}

/** What those that an upstream serves can refuse. */
export const ofServing = [
  'model_unavailable',
  'gateway_unavailable',
  'upstream_busy',
  'content_policy',
  'upstream_failed',
  'upstream_refused',
  'no_content',
  'unreadable',
  'deadline',
] as const

/** What those that are held for, and done once, can. */
export const ofPaying = ['too_large', 'holds_limit', 'ref_conflict', 'busy', 'try_again'] as const

const said = ({ id, tag, summary, more, takes }: Words) => ({
  operationId: id,
  tags: [tag],
  summary,
  ...(more && { description: more }),
  ...(takes && { requestBody: { required: true, content: takes } }),
})

/** By what its client names a call, so that it is done once, however often it is sent. */
const idempotencyKey: OpenAPIV3.ParameterObject = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  description:
    'Names this call: sent again with the same body it is answered alike, and paid once.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}

/** A route's typed answers and its description, for an operation that needs a key. */
export const operation = <const Answers extends Record<number, TSchema>>(
  words: Words,
  answers: Answers,
  refusals: readonly GatewayErrorName[] = [],
) => ({
  response: { ...answers, ...refusing('no_key', 'bad_key', 'rate_limited', ...refusals) },
  detail: {
    ...said(words),
    ...(refusals.includes('ref_conflict') && { parameters: [idempotencyKey] }),
    security: [{ key: [] }],
  },
})

/** The same for an operation that needs no key. */
export const openOperation = <const Answers extends Record<number, TSchema>>(
  words: Words,
  answers: Answers,
  refusals: readonly GatewayErrorName[] = [],
) => ({
  response: { ...answers, ...refusing('rate_limited', ...refusals) },
  detail: { ...said(words), security: [] },
})
