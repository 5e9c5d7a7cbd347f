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

/** Returns the operations of a description as Markdown: inputs, responses and errors. */
export const operationsText = ({ operations, records }: ApiDescription): string =>
  [
    '## Operations\n',
    ...operations.map(textOf),
    '## Records\n',
    ...Object.entries(records).map(([name, schema]) => `### ${name}\n\n${fieldsOf(schema)}\n`),
  ].join('\n')

function textOf(operation: DescribedOperation): string {
  const { operationId, method, path, summary, description, security } = operation
  const responses = Object.entries(operation.responses).map(
    ([status, { description: phrase, content }]) => {
      const [schema] = Object.values(content)
      const text = Number(status) < 300 && schema ? schemaText(schema.schema) : phrase
      return `- ${status}: ${text}`
    },
  )
  const body = Object.entries(operation.requestBody?.content ?? {}).map(
    ([media, { schema }]) => `Body (${media}):\n\n${fieldsOf(schema)}\n`,
  )
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: place, schema }) => `- ${name} (${place}): ${schemaText(schema)}`,
  )
  return [
    `### ${operationId}: ${method} ${path}\n`,
    `${summary}${description ? ` ${description}` : ''}${security.length > 0 ? ' Needs a key.' : ''}\n`,
    ...(parameters.length > 0 ? [`${parameters.join('\n')}\n`] : []),
    ...body,
    `Responses:\n\n${responses.join('\n')}\n`,
  ].join('\n')
}

/** Returns the fields of an object, one per line; for another schema, its text. */
function fieldsOf(schema: Schema): string {
  const fields = Object.entries(Object(schema['properties']))
  const required = [schema['required']].flat()
  if (fields.length === 0) return `- ${schemaText(schema)}`
  return fields
    .map(([name, field]) => `- ${name}${required.includes(name) ? '' : '?'}: ${schemaText(field)}`)
    .join('\n')
}

/** Returns a schema as text: its type, limits and description. */
function schemaText(given: unknown): string {
  const { description, ...schema } = Object(given)
  const purpose = typeof description === 'string' ? ` (${description})` : ''
  return `${typeOf(schema)}${purpose}`
}

/** Returns the type of a schema as text; `describe` returns that of schemas inside it. */
export function typeOf(
  schema: Record<string, unknown>,
  describe: (schema: unknown) => string = schemaText,
): string {
  const {
    $ref,
    enum: values,
    items,
    properties,
    anyOf = schema['oneOf'],
    pattern,
    minimum,
    maximum,
    maxLength,
  } = schema
  if (typeof $ref === 'string') return $ref.replace(/.*\//, '')
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(anyOf)) return anyOf.map(describe).join(' | ')
  if (items) return `${describe(items)}[]`
  if (properties) {
    const fields = Object.entries(properties).map(([name, field]) => `${name}: ${describe(field)}`)
    return `{ ${fields.join(', ')} }`
  }
  const bounds = Object.entries({ pattern, minimum, maximum, maxLength }).flatMap(
    ([name, bound]) => (bound === undefined ? [] : [`${name} ${bound}`]),
  )
  return [[schema['type'] ?? 'any'].flat().join(' | '), ...bounds].join(', ')
}
