import { type TSchema, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { GatewayRefusal } from '../refusals.ts'
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

/** An answer that is no JSON: a picture, a film, a sound, a file. */
export const Bytes = Type.Unsafe<Response>(Type.String({ format: 'binary' }))

const said = ({ id, tag, summary, more, takes }: Words) => ({
  operationId: id,
  tags: [tag],
  summary,
  ...(more && { description: more }),
  ...(takes && { requestBody: { required: true, content: takes } }),
})

/** A route's typed answers and its description, for an operation that needs a key. */
export const operation = <const Answers extends Record<number, TSchema>>(
  words: Words,
  answers: Answers,
  refusals: readonly GatewayRefusal[] = [],
) => ({
  response: { ...answers, ...refusing('no_key', 'bad_key', 'rate_limited', ...refusals) },
  detail: { ...said(words), security: [{ key: [] }] },
})

/** The same for an operation that needs no key. */
export const openOperation = <const Answers extends Record<number, TSchema>>(
  words: Words,
  answers: Answers,
  refusals: readonly GatewayRefusal[] = [],
) => ({
  response: { ...answers, ...refusing('rate_limited', ...refusals) },
  detail: { ...said(words), security: [] },
})
