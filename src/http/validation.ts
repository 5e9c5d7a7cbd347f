import { type TSchema, Type, TypeGuard } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'

import { describeSchema, mustBe } from '../core/schema.ts'
import { ApiError } from '../errors.ts'

/**
 * A route's JSON body. It is checked here, before the framework would: that one lets anything but
 * an object pass where a body may be left out, and takes the time and the care of a page of
 * details, with what was sent in them, to say that a field does not fit.
 */
export const taking = <Shape extends TSchema>(body: Shape) => {
  const check = createValidator(body)
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
export function createValidator(shape: TSchema): (sent: unknown) => void {
  const checked = TypeCompiler.Compile(shape)
  return (sent) => {
    if (!checked.Check(sent)) {
      throw new ApiError('bad_request', validationProblem(checked.Errors(sent).First()))
    }
  }
}

/** Which field does not fit and what would, without repeating what was sent. */
export function validationProblem(fault: ValueError | undefined): {
  problem: string
  param?: string
} {
  const param = fault?.path.slice(1, 100).replaceAll('/', '.') ?? ''
  if (!fault || param === '') {
    return { problem: 'Send a JSON object with the fields of this operation.' }
  }
  if (fault.type === ValueErrorType.ObjectAdditionalProperties) {
    return { param, problem: `"${param}" is no field of this operation. Leave it out.` }
  }
  const branches = fault.type === ValueErrorType.Union ? fault.errors : []
  const inner = branches.map((errors) => errors.First()).find((one) => one?.path !== fault.path)
  if (inner) return validationProblem(inner)
  return { param, problem: `"${param}" ${mustBe(fault.type, describeSchema(fault.schema))}.` }
}
