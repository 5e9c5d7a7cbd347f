import type { Static, TSchema } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'

import { asked, mustBe } from './taking.ts'

/** Takes what is wrong with the file, as a sentence. */
export type Fault = (sentence: string) => void

/** The rows of a TOML file's `[[name]]` that have their shape; what each other field must be. */
export function readRows<T extends TSchema>(
  name: string,
  shape: T,
  tables: unknown,
  fault: Fault,
): Static<T>[] {
  if (tables === undefined) return []
  if (!Array.isArray(tables)) {
    fault(`${name} is written as [[${name}]].`)
    return []
  }
  return tables.flatMap((table: unknown, at) => {
    if (Value.Check(shape, table)) return [table]
    // A field that is missing is of the wrong type as well: each is told of once.
    const faulty = new Map<string, ValueError>()
    for (const error of Value.Errors(shape, table)) {
      if (!faulty.has(error.path)) faulty.set(error.path, error)
    }
    for (const [path, error] of faulty) {
      fault(`[[${name}]] number ${at + 1}: ${path.slice(1)} ${misfit(error)}.`)
    }
    return []
  })
}

const misfit = ({ type, schema }: ValueError): string =>
  type === ValueErrorType.ObjectAdditionalProperties
    ? 'is no field of it'
    : mustBe(type, schema.description ?? asked(schema))
