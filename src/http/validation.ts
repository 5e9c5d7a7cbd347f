import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import type { ValidationError } from 'elysia'

import { describeSchema, mustBe } from '../core/schema.ts'
import { ApiError } from '../errors.ts'

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

/** Describes an invalid path or query parameter without repeating its value. */
export function parameterProblem({ valueError, value }: ValidationError, url: string): string {
  const { problem, param } = validationProblem(valueError)
  if (param) return problem
  // For a number out of its range Elysia keeps the value and drops the name.
  const { searchParams } = new URL(url)
  const [name] = [...searchParams].find(([, text]) => Number(text) === value) ?? []
  const field = name === undefined ? 'A path parameter' : `"${name}"`
  return `${field} ${valueError ? `must be ${describeSchema(valueError.schema)}` : 'is invalid'}.`
}
