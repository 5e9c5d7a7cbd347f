import { type TSchema, Type, TypeGuard } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'

import { ApiError } from '../errors.ts'

/**
 * A route's JSON body. It is checked here, before the framework would: that one lets anything but
 * an object pass where a body may be left out, and takes the time and the care of a page of
 * details, with what was sent in them, to say that a field does not fit.
 */
export const taking = <Shape extends TSchema>(body: Shape) => {
  const check = checkerOf(body)
  const isOptional = TypeGuard.IsOptional(body)
  const transform = ({ body: sent }: { body: unknown }): void => {
    if (sent !== undefined || !isOptional) check(sent)
  }
  return { body, transform }
}

/** A route that takes no fields: what is sent anyway would be missed silently. */
export const takingNothing = {
  transform: taking(Type.Optional(Type.Object({}, { additionalProperties: false }))).transform,
}

/** Checks what was sent by a shape, compiled once. Refuses bad_request, naming the field. */
export function checkerOf(shape: TSchema): (sent: unknown) => void {
  const checked = TypeCompiler.Compile(shape)
  return (sent) => {
    if (!checked.Check(sent)) {
      throw new ApiError('bad_request', misfitOf(checked.Errors(sent).First()))
    }
  }
}

/** Which field does not fit and what would, without repeating what was sent. */
export function misfitOf(fault: ValueError | undefined): { problem: string; param?: string } {
  const param = fault?.path.slice(1, 100).replaceAll('/', '.') ?? ''
  if (!fault || param === '') {
    return { problem: 'Send a JSON object with the fields of this operation.' }
  }
  if (fault.type === ValueErrorType.ObjectAdditionalProperties) {
    return { param, problem: `"${param}" is no field of this operation. Leave it out.` }
  }
  const branches = fault.type === ValueErrorType.Union ? fault.errors : []
  const inner = branches.map((errors) => errors.First()).find((one) => one?.path !== fault.path)
  if (inner) return misfitOf(inner)
  return { param, problem: `"${param}" ${mustBe(fault.type, asked(fault.schema))}.` }
}

/** What a field that does not fit must be: "must be a string", also when it is missing. */
export const mustBe = (fault: ValueErrorType, what: string): string =>
  `${fault === ValueErrorType.ObjectRequiredProperty ? 'is missing: it ' : ''}must be ${what}`

/** What a shape takes, in the words of JSON Schema: "a string (8 to 64 characters)". */
export function asked(shape: TSchema): string {
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (Array.isArray(shape.anyOf)) {
    // The framework's number is a union of itself and its text.
    const isText = (kind: TSchema): boolean => /^(numeric|integer)$/.test(kind['format'] ?? '')
    const kinds = shape.anyOf.filter((kind: TSchema) => !isText(kind))
    const words = kinds.flatMap((kind: TSchema) =>
      typeof kind.const === 'string' && kind.const !== '' ? [kind.const] : [],
    )
    const others = kinds.filter((kind: TSchema) => typeof kind.const !== 'string').map(asked)
    const known = words.length > 0 ? [`one of ${words.join(', ')}`] : []
    return [...new Set([...known, ...others])].join(' or ')
  }
  const { type, pattern, minLength, maxLength, charsMax = maxLength } = shape
  const { minimum, maximum, minItems, maxItems, multipleOf, exclusiveMinimum: floor } = shape
  const matching = pattern === undefined ? '' : ` that matches ${pattern}`
  if (type === 'string') return `a string${between(minLength, charsMax, ' characters')}${matching}`
  if (type === 'integer') return `an integer${between(minimum, maximum)}`
  const above = floor === undefined ? '' : ` above ${floor}`
  const number = multipleOf === 1 ? 'a whole number' : 'a number'
  if (type === 'number') return `${number}${above}${between(minimum, maximum)}`
  if (type === 'array') return `an array${between(minItems, maxItems, ' items')}`
  if (type === 'boolean') return 'true or false'
  return type === 'null' ? 'null' : 'an object'
}

function between(min?: number, max?: number, unit = ''): string {
  if (min === undefined) return max === undefined ? '' : ` (at most ${max}${unit})`
  if (max === undefined) return min === 1 && unit ? ', not empty' : ` (${min}${unit} or more)`
  return ` (${min} to ${max}${unit})`
}
