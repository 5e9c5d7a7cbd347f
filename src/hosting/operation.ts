import { type TSchema, TypeGuard } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import type { OpenAPIV3 } from 'openapi-types'

import { type HostingRefusal, Refusal } from '../refusals.ts'
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
  ...refusals: HostingRefusal[]
) => ({
  response: { ...answers, ...refusing(...groupC, ...refusals) },
  detail: {
    ...said(words),
    security: [{ key: [] }],
    ...(words.takes && { requestBody: { required: true, content: words.takes } }),
  },
})

/**
 * A route's JSON body. It is checked here, before the framework would: that one lets anything but an
 * object pass where a body may be left out, and takes the time and the care of a page of details,
 * with what was sent in them, to say that a field does not fit.
 */
export const taking = <Shape extends TSchema>(body: Shape) => {
  const checked = TypeCompiler.Compile(body)
  const isOptional = TypeGuard.IsOptional(body)
  const transform = ({ body: sent }: { body: unknown }): void => {
    if (sent === undefined ? isOptional : checked.Check(sent)) return
    throw new Refusal('bad_request', { problem: problemOf(checked.Errors(sent).First()) })
  }
  return { body, transform }
}

/** What does not fit, without repeating what was sent. */
function problemOf(fault: ValueError | undefined): string {
  const field = fault?.path.slice(1, 100).replaceAll('/', '.') ?? ''
  if (field === '') return 'Send a JSON object with the fields of this operation.'
  if (fault?.type === ValueErrorType.ObjectAdditionalProperties) {
    return `"${field}" is no field of this operation. Leave it out.`
  }
  const words: unknown[] = fault?.schema.anyOf?.map((part: TSchema) => part.const) ?? []
  if (words.length > 0 && words.every((word) => typeof word === 'string')) {
    return `"${field}" is one of ${words.join(', ')}.`
  }
  return `"${field}": ${fault?.message ?? 'It does not fit'}.`
}

/** The same for an operation that needs no key. */
export const openOperation = <const Answers extends Record<number, TSchema>>(
  words: Words,
  answers: Answers,
  ...refusals: HostingRefusal[]
) => ({
  response: { ...answers, ...refusing('rate_limited', ...refusals) },
  detail: { ...said(words), security: [] },
})
