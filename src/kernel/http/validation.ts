import type { Static, TSchema } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'

import { ApiError } from '../errors.ts'
import { describeSchema, mustBe } from '../schema.ts'

/**
 * Compiles a schema. The validator returns a valid value, and throws `bad_request` with the first
 * invalid field.
 */
export function createValidator<T extends TSchema>(schema: T): (value: unknown) => Static<T> {
  const compiled = TypeCompiler.Compile(schema)
  return (value) => {
    if (compiled.Check(value)) return value
    throw new ApiError('bad_request', validationProblem(compiled.Errors(value).First()))
  }
}

/** Describes an invalid field and what it must be, without repeating its value. */
function validationProblem(error: ValueError | undefined): {
  problem: string
  param?: string
} {
  const param = error?.path.slice(1, 100).replaceAll('/', '.') ?? ''
  if (!error || param === '') {
    return { problem: 'Send a JSON object with the fields of this operation, as application/json.' }
  }
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    const like = nameLike(param.slice(param.lastIndexOf('.') + 1), error.schema)
    const next = like === undefined ? 'Remove it.' : `Send "${like}" instead.`
    return { param, problem: `"${param}" is not a field of this operation. ${next}` }
  }
  const branches = error.type === ValueErrorType.Union ? error.errors : []
  const inner = branches.map((errors) => errors.First()).find((one) => one?.path !== error.path)
  if (inner) return validationProblem(inner)
  return { param, problem: `"${param}" ${mustBe(error.type, describeSchema(error.schema))}.` }
}

/** Returns a field whose name begins another one, such as "expiresAt" for "expires". */
const nameLike = (name: string, { properties }: TSchema): string | undefined =>
  Object.keys(Object(properties)).find(
    (known) => known.length > 2 && (name.startsWith(known) || known.startsWith(name)),
  )
