import { swagger } from '@elysiajs/swagger'
import { TypeGuard } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'

import { compressed, type Entity, entity } from '../../core/entity.ts'
import { idPattern } from '../../core/ids.ts'
import { openApi31 } from '../../core/openapi.ts'
import type { House } from '../../house.ts'
import type { Tag } from '../operation.ts'

/** What the description needs of the app it describes. */
export type Described = Pick<AnyElysia, 'routes'>

const tags: Record<Tag, string> = {
  Start: 'Whether the API is open, what there is, and how to begin.',
  Keys: 'Your account and its keys. No sign-in: POST /keys makes both.',
  Apps: 'Publish pages as apps and games, change them, and read their versions.',
  Assets: 'Named files that an app loads from inside: pictures, sound, JSON.',
}

const parameters = {
  id: {
    schema: { type: 'string', pattern: idPattern.source },
    description: "The app's id, the end of its public link.",
  },
  name: {
    schema: { type: 'string', pattern: '^[a-z0-9][a-z0-9._-]{0,63}$' },
    description: "The asset's name, without two dots together.",
  },
  prefix: { schema: { type: 'string' }, description: 'The first letters of the key, as listed.' },
  version: { schema: { type: 'string' }, description: 'The number of a version, from 1.' },
}

const words = `Make and host apps and games with an API key alone: publish a whole HTML page, get a
link that anyone can open.

Send your key as \`Authorization: Bearer <key>\`; \`POST /keys\` makes one, without sign-in. Bodies are
JSON. Every error is \`{ error, code }\`: \`error\` says what to do next, \`code\` is for branching. A
fault of ours is 500 \`internal\`. Every answer carries \`x-request-id\`, every 429 \`retry-after\`.
A \`ref\` in the body, or the header \`Idempotency-Key\`, makes a publish safe to send again.`

/**
 * The OpenAPI 3.1 description of an API (document 1, operation 3), made once, from the routes that
 * answer its requests.
 */
export async function describe(house: House, api: Described): Promise<Entity> {
  const plugin = swagger({ excludeStaticFile: false, specPath: '/raw' })
  // Elysia gives a plugin the routes of the app it is used in; this one reads the API's alone.
  Object.assign(plugin, { getGlobalRoutes: () => api.routes })
  const raw: unknown = await (await plugin.handle(new Request('http://localhost/raw'))).json()
  const document = openApi31(raw, {
    title: 'Berth Agent API',
    version: '1.0.0',
    description: words,
    server: house.urls.base,
    mount: '/api',
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    parameters,
    optionalBodies: new Set(
      api.routes.flatMap(({ hooks }) =>
        TypeGuard.IsOptional(hooks.body) ? [hooks.detail?.operationId] : [],
      ),
    ),
  })
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' }
  return entity(compressed(JSON.stringify(document)), headers)
}
