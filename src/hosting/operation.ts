import type { TSchema } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { HostingErrorName } from '../errors.ts'
import { refusing } from './envelope.ts'

/** The areas of document 1, section 1. */
export type Tag =
  | 'Start'
  | 'Keys'
  | 'Apps'
  | 'Explore'
  | 'Reviews and comments'
  | 'Your things'
  | 'People'
  | 'Jobs'
  | 'Assets'
  | 'Moderation'

/** The codes that every key operation can give (document 1, section 7, group C). */
const groupC = [
  'agents_off',
  'no_key',
  'bad_key',
  'wrong_key_kind',
  'account_closed',
  'account_suspended',
  'rate_limited',
] as const

/** The same for what a person does. */
const personRefusals = [
  'agents_off',
  'not_signed_in',
  'bad_personal_key',
  'wrong_key_kind',
  'account_suspended',
  'cross_site',
  'rate_limited',
] as const

/** What every operation that writes can refuse. */
export const ofWriting = ['bad_request', 'too_large', 'try_again'] as const

/** What those about an app can. */
export const ofApp = ['not_found', 'taken_down'] as const

/** What those that keep a page can. */
export const ofPublishing = ['blocked_by_scan', 'publishes_limit', 'storage_full'] as const

/** What those that take `maxCredits` can. */
export const ofPaying = ['not_enough_credits', 'daily_cap', 'price_above_max', 'paused'] as const

/** What those that take a `ref` can. */
export const ofRef = ['busy', 'ref_conflict'] as const

/** What the description, the docs and the tools say of one operation. */
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

const said = ({ id, tag, summary, more }: Words) => ({
  operationId: id,
  tags: [tag],
  summary,
  ...(more && { description: more }),
})

/** A route's typed answers and its description, for an operation that needs a key. */
export const operation = <const Answers extends Record<number, TSchema>>(
  words: Words,
  answers: Answers,
  refusals: readonly HostingErrorName[] = [],
) => ({
  response: { ...answers, ...refusing(...groupC, ...refusals) },
  detail: {
    ...said(words),
    security: [{ key: [] }],
    ...(words.takes && { requestBody: { required: true, content: words.takes } }),
  },
})

/** The same for an operation of a person: by a session of the web, or by a personal key. */
export const personOperation = <const Answers extends Record<number, TSchema>>(
  words: Words,
  answers: Answers,
  refusals: readonly HostingErrorName[] = [],
) => ({
  response: { ...answers, ...refusing(...personRefusals, ...refusals) },
  detail: { ...said(words), security: [{ key: [] }, { session: [] }] },
})

/** The same for an operation that needs no key. */
export const openOperation = <const Answers extends Record<number, TSchema>>(
  words: Words,
  answers: Answers,
  refusals: readonly HostingErrorName[] = [],
) => ({
  response: { ...answers, ...refusing('rate_limited', ...refusals) },
  detail: { ...said(words), security: [] },
})
