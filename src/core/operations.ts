import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Schema = Type.Record(Type.String(), Type.Unknown())
const Content = Type.Record(Type.String(), Type.Object({ schema: Schema }))
const Operation = Type.Object({
  operationId: Type.String(),
  summary: Type.String(),
  description: Type.Optional(Type.String()),
  tags: Type.Array(Type.String()),
  security: Type.Array(Schema),
  parameters: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        in: Type.String(),
        required: Type.Boolean(),
        description: Type.Optional(Type.String()),
        schema: Schema,
      }),
    ),
  ),
  requestBody: Type.Optional(Type.Object({ content: Content })),
  responses: Type.Record(
    Type.String(),
    Type.Object({ description: Type.String(), content: Content }),
  ),
})
const Document = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Operation)),
  components: Type.Object({ schemas: Type.Record(Type.String(), Schema) }),
})

/** A JSON Schema. */
export type Schema = Static<typeof Schema>

/** One operation of the description, with the method and the path that it is called by. */
export type Operation = Static<typeof Operation> & { method: string; path: string }

/** An API's operations in the order of its description, and the records that they share. */
export interface Description {
  operations: Operation[]
  records: Record<string, Schema>
}

/** Reads an OpenAPI 3.1 description as `openapi.ts` makes it, as far as operations are told of. */
export function readDescription(json: unknown): Description {
  const { paths, components } = must(Document, json)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  )
  return { operations, records: components.schemas }
}

function must<T extends TSchema>(shape: T, value: unknown): Static<T> {
  if (Value.Check(shape, value)) return value
  const fault = Value.Errors(shape, value).First()
  throw new Error(`the description has another shape: ${fault?.path} ${fault?.message}`)
}
