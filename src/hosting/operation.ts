import type { TSchema } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { HostingRefusal } from '../refusals.ts'
import { refusing } from './envelope.ts'

/** The areas of document 1, section 1. */
export type Tag = 'Start' | 'Keys' | 'Apps' | 'Assets'

/** The codes that every key operation can give (document 1, section 7, group C). */
const groupC = [
  'agents_off',
  'no_key',
  'bad_key',
  'wrong_key_kind',
  'account_closed',
  'rate_limited',
] as const

/** What the description, the docs and the tools say of one operation. */
interface Words {
  /** The operationId, a snake_case verb. */
  id: string
  tag: Tag
  /** One line. */
  summary: string
  /** The body by media type, where it is no JSON that the route's own `body` describes. */
  takes?: Record<string, { schema: OpenAPIV3.SchemaObject }>
}

/** A route's typed answers and its description, for an operation that needs a key. */
export const operation = <const Answers extends Record<number, TSchema>>(
  { id, tag, summary, takes }: Words,
  answers: Answers,
  ...refusals: HostingRefusal[]
) => ({
  response: { ...answers, ...refusing(...groupC, ...refusals) },
  detail: {
    operationId: id,
    tags: [tag],
    summary,
    security: [{ key: [] }],
    ...(takes && { requestBody: { required: true, content: takes } }),
  },
})

/** The same for an operation that needs no key. */
export const openOperation = <const Answers extends Record<number, TSchema>>(
  { id, tag, summary }: Words,
  answers: Answers,
  ...refusals: HostingRefusal[]
) => ({
  response: { ...answers, ...refusing('rate_limited', ...refusals) },
  detail: { operationId: id, tags: [tag], summary, security: [] },
})
