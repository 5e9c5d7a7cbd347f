import { type Static, type TSchema, Type, TypeGuard } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { Cache } from '../core/cache.ts'
import { compressText, createEntity, type Entity } from './entity.ts'
import { type ApiInfo, toOpenApi31 } from './openapi.ts'

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

/** A route with its declaration, as Elysia's plugin reads it. */
export interface DescribedRoute {
  method: string
  path: string
  hooks: {
    params: TSchema | undefined
    query: TSchema | undefined
    body: TSchema | undefined
    response: Record<number, TSchema>
    detail: Record<string, unknown>
  }
}

/** Descriptions by what differs between servers. */
const descriptions = new Cache<Promise<Entity>>(8)

/** Returns the OpenAPI 3.1 description of an API, which takes long to create. */
export function describeApi(
  described: readonly DescribedRoute[],
  info: Omit<ApiInfo, 'optionalBodies'>,
): Promise<Entity> {
  const key = [info.title, info.server, info.session].join(' ')
  const known = descriptions.get(key)
  if (known) return known
  const created = createDescription(described, info)
  descriptions.set(key, created)
  return created
}

/** Creates the OpenAPI 3.1 description of an API from its routes. */
async function createDescription(
  described: readonly DescribedRoute[],
  info: Omit<ApiInfo, 'optionalBodies'>,
): Promise<Entity> {
  const { swagger } = await import('@elysiajs/swagger')
  const plugin = swagger({ excludeStaticFile: false, specPath: '/raw' })
  // Elysia gives the plugin the routes of the app that uses it. This one reads only the API's.
  // It leaves out paths that end with a wildcard, which is the rest of the path.
  const routes = described.map((route) => ({ ...route, path: route.path.replace('*', ':path') }))
  Object.assign(plugin, { getGlobalRoutes: () => routes })
  const raw: unknown = await (await plugin.handle(new Request('http://localhost/raw'))).json()
  const optionalBodies = new Set(
    described.flatMap(({ hooks: { body, detail } }) =>
      body && TypeGuard.IsOptional(body) ? [String(detail['operationId'])] : [],
    ),
  )
  const document = toOpenApi31(raw, { ...info, optionalBodies })
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' }
  return createEntity(compressText(JSON.stringify(document)), headers)
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
