import { TypeGuard } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'

import { compressed, type Entity, entity } from './entity.ts'
import { openApi31, type Words } from './openapi.ts'

/** What the description needs of the app it describes. */
export type Described = Pick<AnyElysia, 'routes'>

/** The OpenAPI 3.1 description of an API, made from the routes that answer its requests. */
export async function describe(
  api: Described,
  words: Omit<Words, 'optionalBodies'>,
): Promise<Entity> {
  const { swagger } = await import('@elysiajs/swagger')
  const plugin = swagger({ excludeStaticFile: false, specPath: '/raw' })
  // Elysia gives a plugin the routes of the app it is used in; this one reads the API's alone.
  Object.assign(plugin, { getGlobalRoutes: () => api.routes })
  const raw: unknown = await (await plugin.handle(new Request('http://localhost/raw'))).json()
  const optionalBodies = new Set(
    api.routes.flatMap(({ hooks }) =>
      TypeGuard.IsOptional(hooks.body) ? [hooks.detail?.operationId] : [],
    ),
  )
  const document = openApi31(raw, { ...words, optionalBodies })
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' }
  return entity(compressed(JSON.stringify(document)), headers)
}
