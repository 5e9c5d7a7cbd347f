import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Schema = Type.Record(Type.String(), Type.Unknown())
const Content = Type.Record(Type.String(), Type.Object({ schema: Schema }))
export const OperationSchema = Type.Object({
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
  requestBody: Type.Optional(Type.Object({ required: Type.Boolean(), content: Content })),
  responses: Type.Record(
    Type.String(),
    Type.Object({ description: Type.String(), content: Content }),
  ),
})
const Document = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), OperationSchema)),
  components: Type.Object({ schemas: Type.Record(Type.String(), Schema) }),
})

/** A JSON Schema. */
export type Schema = Static<typeof Schema>

/** One operation of a description with its method and path. */
export type DescribedOperation = Static<typeof OperationSchema> & { method: string; path: string }

/** The operations of an API, in the order of its description, and the records that they share. */
export interface ApiDescription {
  operations: DescribedOperation[]
  records: Record<string, Schema>
}

/** Reads the operations of a description that `describeApi` created. */
export function readDescription(json: unknown): ApiDescription {
  if (!Value.Check(Document, json)) {
    const error = Value.Errors(Document, json).First()
    throw new Error(`the API description is invalid: ${error?.path} ${error?.message}`)
  }
  return { operations: withPaths(json.paths), records: json.components.schemas }
}

/** Lists operations by path and method, each with both. */
export const withPaths = <Operation extends object>(
  paths: Record<string, Record<string, Operation>>,
): (Operation & { method: string; path: string })[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  )
