import { Type, TypeGuard } from '@sinclair/typebox'

import { compressText, createEntity, type Entity } from '../../kernel/http/entity.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { Cache } from '../../kernel/lazy.ts'
import { type ApiInfo, toOpenApi31 } from './openapi.ts'

/** The operations of an API by the start of their paths below its base URL. */
type OperationsByPrefix = Readonly<Record<string, readonly Operation[]>>

/** Descriptions by what differs between servers. */
const descriptions = new Cache<Promise<Entity>>(8)

/** Returns the OpenAPI 3.1 description of an API, which takes long to create. */
export function describeApi(
  operations: OperationsByPrefix,
  info: Omit<ApiInfo, 'optionalBodies'>,
): Promise<Entity> {
  const key = [info.title, info.server, info.session].join(' ')
  const known = descriptions.get(key)
  if (known) return known
  const created = createDescription(operations, info)
  descriptions.set(key, created)
  return created
}

/** Creates the OpenAPI 3.1 description of an API. */
async function createDescription(
  operations: OperationsByPrefix,
  info: Omit<ApiInfo, 'optionalBodies'>,
): Promise<Entity> {
  const { swagger } = await import('@elysiajs/swagger')
  const plugin = swagger({ excludeStaticFile: false, specPath: '/raw' })
  const routes = Object.entries(operations).flatMap(([prefix, some]) =>
    some.map((operation) => routeOf(operation, prefix)),
  )
  // Elysia gives the plugin the routes of the app that uses it. This one reads only the API's.
  Object.assign(plugin, { getGlobalRoutes: () => routes })
  const raw: unknown = await (await plugin.handle(new Request('http://localhost/raw'))).json()
  const optionalBodies = new Set(
    Object.values(operations)
      .flat()
      .filter(({ input: { body } }) => typeof body === 'object' && TypeGuard.IsOptional(body))
      .map(({ id }) => id),
  )
  const document = toOpenApi31(raw, { ...info, optionalBodies })
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' }
  return createEntity(compressText(JSON.stringify(document)), headers)
}

/** Returns the route of an operation with its declaration, as Elysia's plugin reads it. */
function routeOf(operation: Operation, prefix: string) {
  const { method, path, input, id, tag, summary, description, access, errors } = operation
  const { params, query, body, bodies } = input
  return {
    method,
    // The plugin leaves out paths that end with a wildcard, which is the rest of the path.
    path: (prefix + path).replace('*', ':path'),
    hooks: {
      params,
      query,
      body: body === 'none' ? undefined : body,
      response: responsesOf(operation),
      detail: {
        operationId: id,
        tags: [tag],
        summary,
        ...(description && { description }),
        ...(bodies && { requestBody: { required: true, content: bodies } }),
        ...(operation.idempotent &&
          access.idempotencyHeader && { parameters: [access.idempotencyHeader] }),
        security: access.security,
        operation: { errors },
      },
    },
  }
}

/** Returns the schemas of all responses. 202 is a running job, and a pending payment. */
function responsesOf({ output, errorSchemas }: Operation) {
  const responses = { ...output }
  for (const [status, schema] of Object.entries(errorSchemas())) {
    const success = output[Number(status)]
    responses[Number(status)] = success ? Type.Union([success, schema]) : schema
  }
  return responses
}
