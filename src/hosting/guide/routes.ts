import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { lazy } from '../../core/lazy.ts'
import { mediaSchema, NotModifiedSchema } from '../../core/schema.ts'
import { prefers } from '../../http/accept.ts'
import { readDescription } from '../../http/api-description.ts'
import { entityResponse } from '../../http/entity.ts'
import type { RoutedApi } from '../../http/operation.ts'
import { callerAuth, checkAgentsOn } from '../authentication.ts'
import { publicOperation } from '../operation.ts'
import { describeAgentApi } from './description.ts'
import { apiCatalog, discoveryLinks, mcpServerManifest } from './discovery.ts'
import { getGuide, guideMarkdown, skillMarkdown } from './guide.ts'
import { operationsText } from './operations-text.ts'
import * as schemas from './schemas.ts'

/** Pages of all origins may read the guides. */
const markdown = (text: string, type = 'text/markdown'): Response =>
  new Response(text, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      vary: 'accept',
      'access-control-allow-origin': '*',
    },
  })

const json = (value: unknown, type = 'application/json'): Response =>
  new Response(JSON.stringify(value), {
    headers: { 'content-type': type, 'access-control-allow-origin': '*' },
  })

const wantsMarkdown = (request: Request): boolean =>
  ['text/markdown', 'text/plain'].some((type) => prefers(request, type, 'application/json'))

/** Document 1, operations 1 and 2. */
export const startRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/on',
      () => ({ on: ctx.config.agentsOn }),
      publicOperation(
        { id: 'is_on', tag: 'Start', mcp: 'shown', summary: 'Whether the Agent API is open.' },
        { 200: schemas.IsOnSchema },
      ),
    )
    .get(
      '/',
      ({ request, set }) => {
        set.headers.vary = 'accept'
        set.headers.link = discoveryLinks(ctx)
        const guide = getGuide(ctx)
        return wantsMarkdown(request) ? markdown(guideMarkdown(guide)) : guide
      },
      publicOperation(
        {
          id: 'start',
          tag: 'Start',
          mcp: 1,
          summary: 'What this is and how to publish. Read it first.',
          description: 'With Accept: text/markdown, the same as a text.',
        },
        { 200: Type.Union([schemas.GuideSchema, mediaSchema('text/markdown')]) },
        ['agents_off'],
      ),
    )

/** Document 1, operation 3. The first request creates the description of `api`. */
export function descriptionRoutes(ctx: AppContext, api: RoutedApi) {
  const description = lazy(() => describeAgentApi(ctx, api))
  return new Elysia().use(callerAuth(ctx)).get(
    '/openapi.json',
    async ({ request }) => entityResponse(request, await description()),
    publicOperation(
      {
        id: 'get_openapi',
        tag: 'Start',
        mcp: 'hidden',
        summary: 'This description (OpenAPI 3.1).',
      },
      { 200: schemas.OpenApiSchema, 304: NotModifiedSchema },
      ['agents_off'],
    ),
  )
}

/** Guides at the top of the site, where agents and their programs expect them. */
export const guideFiles = (ctx: AppContext, readOpenApi: () => Promise<unknown>) =>
  new Elysia()
    .onTransform(() => checkAgentsOn(ctx))
    .get('/llms.txt', () => markdown(guideMarkdown(getGuide(ctx)), 'text/plain'))
    .get('/llms-full.txt', async () => {
      const all = operationsText(readDescription(await readOpenApi()))
      return markdown(`${guideMarkdown(getGuide(ctx))}\n${all}`, 'text/plain')
    })
    .get('/skill.md', () => markdown(skillMarkdown(getGuide(ctx))))
    .get('/server.json', () => json(mcpServerManifest(ctx)))
    .get('/.well-known/api-catalog', () => json(apiCatalog(ctx), 'application/linkset+json'))
