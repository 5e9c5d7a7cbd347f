import { type TSchema, TypeGuard } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'

import { Refusal } from '../refusals.ts'

/**
 * A route's JSON body. It is checked here, before the framework would: that one lets anything but
 * an object pass where a body may be left out, and takes the time and the care of a page of
 * details, with what was sent in them, to say that a field does not fit.
 */
export const taking = <Shape extends TSchema>(body: Shape) => {
  const checked = TypeCompiler.Compile(body)
  const isOptional = TypeGuard.IsOptional(body)
  const transform = ({ body: sent }: { body: unknown }): void => {
    if (sent === undefined ? isOptional : checked.Check(sent)) return
    const fault = checked.Errors(sent).First()
    const param = fault?.path.slice(1, 100).replaceAll('/', '.') ?? ''
    throw new Refusal('bad_request', { problem: problemOf(param, fault), ...(param && { param }) })
  }
  return { body, transform }
}

/** What does not fit, without repeating what was sent. */
export function problemOf(field: string, fault: ValueError | undefined): string {
  if (field === '') return 'Send a JSON object with the fields of this operation.'
  if (fault?.type === ValueErrorType.ObjectAdditionalProperties) {
    return `"${field}" is no field of this operation. Leave it out.`
  }
  const words: unknown[] = fault?.schema.anyOf?.map((part: TSchema) => part.const) ?? []
  if (words.length > 0 && words.every((word) => typeof word === 'string')) {
    return `"${field}" is one of ${words.join(', ')}.`
  }
  // Of several shapes, what the first is missing says most: null or a text stands behind it.
  const [first] = fault?.type === ValueErrorType.Union ? fault.errors : []
  const inner = first?.First()
  if (inner) return problemOf(field, inner)
  return `"${field}": ${fault?.message ?? 'It does not fit'}.`
}
