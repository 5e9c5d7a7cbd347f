import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { entityResponse } from '../../kernel/http/entity.ts'
import { loadForeignOperations } from '../../server/gateway-api.ts'
import { describeApi } from '../../server/http/openapi.ts'
import {
  type DescribedOperation,
  OperationSchema,
  withPaths,
} from '../../site/guide/read-description.ts'

const Schema = Type.Record(Type.String(), Type.Unknown())
const Document = Type.Object({
  openapi: Type.String(),
  info: Type.Object({ title: Type.String(), version: Type.String() }),
  servers: Type.Array(Type.Object({ url: Type.String() })),
  tags: Type.Array(Type.Object({ name: Type.String() })),
  paths: Type.Record(Type.String(), Type.Record(Type.String(), OperationSchema)),
  components: Type.Object({ schemas: Type.Record(Type.String(), Schema), securitySchemes: Schema }),
})

/** The OpenAPI document as far as the tests read it. */
export type Document = Static<typeof Document>

/** Returns a value of a schema. Throws with the first validation error. */
function parseSchema<T extends TSchema>(schema: T, value: unknown): Static<T> {
  if (Value.Check(schema, value)) return value
  const error = Value.Errors(schema, value).First()
  throw new Error(`${error?.path}: ${error?.message}`)
}

/** Returns a document from its JSON. Throws with the first validation error. */
export const parseDocument = (json: unknown): Document => parseSchema(Document, json)

interface Server {
  request(method: 'GET', path: string): Promise<{ body: unknown }>
}

/** Returns the OpenAPI document of the Agent API. */
export const getDocument = async ({ request }: Server): Promise<Document> =>
  parseDocument((await request('GET', '/api/openapi.json')).body)

/** Returns the OpenAPI document of the gateway. */
export const getGatewayDocument = async ({ request }: Server): Promise<Document> =>
  parseDocument((await request('GET', '/v1/openapi.json')).body)

/** Returns a document of the APIs of others that the gateway has: those are below other paths. */
export async function getForeignDocument(): Promise<Document> {
  const unset = { description: '', server: '', key: '', tags: [], parameters: {} }
  const entity = await describeApi(await loadForeignOperations(), {
    ...unset,
    title: 'Others',
    version: '1.0.0',
  })
  const response = entityResponse(new Request('http://localhost/'), entity)
  return parseDocument(await response.json())
}

/** Lists the operations. The schemas of their bodies contain the shared schemas that they name. */
export const listOperations = (document: Document): DescribedOperation[] =>
  withPaths(document.paths).map((operation) => withComponents(operation, document))

function withComponents(operation: DescribedOperation, { components }: Document) {
  const { requestBody } = operation
  if (!requestBody) return operation
  const content = Object.fromEntries(
    Object.entries(requestBody.content).map(([type, { schema }]) => [
      type,
      { schema: { ...schema, components } },
    ]),
  )
  return { ...operation, requestBody: { ...requestBody, content } }
}

const script = '<img src=x onerror=alert(1)>'

/** Returns the body fields that accept a script: "add_comment.text". */
export const listTextFields = (document: Document): string[] =>
  listOperations(document).flatMap(({ operationId, requestBody }) =>
    Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
      textsIn(document, schema).map((field) => `${operationId}${field}`),
    ),
  )

const textsIn = (document: Document, given: unknown): string[] => {
  const schema = Object(given)
  const parts: unknown[] = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => schema[name] ?? [])
  if (schema.$ref) parts.push(document.components.schemas[schema.$ref.split('/').pop()])
  const isText = [schema.type].flat().includes('string')
  const isFree = !schema.enum && !schema.format && schema.const === undefined
  const isAny = isFree && new RegExp(schema.pattern ?? '', 'u').test(script)
  return [
    ...(isText && isAny ? [''] : []),
    ...[...parts, schema.items].flatMap((one) => (one ? textsIn(document, one) : [])),
    ...Object.entries(Object(schema.properties)).flatMap(([name, one]) =>
      textsIn(document, one).map((field) => `.${name}${field}`),
    ),
  ]
}
