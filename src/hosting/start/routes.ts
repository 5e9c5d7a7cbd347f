import { type AnyElysia, Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { prefers } from '../../core/accept.ts'
import type { Described } from '../../core/description.ts'
import { answer, type Entity } from '../../core/entity.ts'
import { readDescription } from '../../core/operations.ts'
import { withoutKey } from '../key.ts'
import { openOperation } from '../operation.ts'
import { describeAgentApi } from './description.ts'
import { catalogueOf, linksOf, serverOf } from './found.ts'
import { guideOf, markdownOf, skillOf } from './guide.ts'
import { operationsOf } from './operations.ts'
import * as schemas from './schemas.ts'

/** A guide may be read from a page of any site. */
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
    .get(
      '/on',
      () => ({ on: ctx.config.agentsOn }),
      openOperation(
        { id: 'is_on', tag: 'Start', summary: 'Whether the Agent API is open.' },
        { 200: schemas.On },
      ),
    )
    .use(withoutKey(ctx))
    .get(
      '/',
      ({ request, set }) => {
        set.headers.vary = 'accept'
        set.headers.link = linksOf(ctx)
        const guide = guideOf(ctx)
        return wantsMarkdown(request) ? markdown(markdownOf(guide)) : guide
      },
      openOperation(
        {
          id: 'start',
          tag: 'Start',
          summary: 'What this is and how to publish. Read it first.',
          more: 'With Accept: text/markdown, the same as a text.',
        },
        { 200: schemas.Guide },
        ['agents_off'],
      ),
    )

/** Document 1, operation 3: the description of `api`, made when it is first asked for. */
export function descriptionRoutes(ctx: AppContext, api: Described) {
  let description: Promise<Entity> | undefined
  return new Elysia()
    .use(withoutKey(ctx))
    .get(
      '/openapi.json',
      async ({ request }) => answer(request, await (description ??= describeAgentApi(ctx, api))),
      openOperation(
        { id: 'get_openapi', tag: 'Start', summary: 'This description (OpenAPI 3.1).' },
        { 200: schemas.OpenApi },
        ['agents_off'],
      ),
    )
}

/** What agents and their programs look for at the top of the site, whatever they read first. */
export const guideFiles = (ctx: AppContext, api: Pick<AnyElysia, 'handle'>) =>
  new Elysia()
    .use(withoutKey(ctx))
    .get('/llms.txt', () => markdown(markdownOf(guideOf(ctx)), 'text/plain'))
    .get('/llms-full.txt', async () => {
      const described = await api.handle(new Request('http://localhost/api/openapi.json'))
      const all = operationsOf(readDescription(await described.json()))
      return markdown(`${markdownOf(guideOf(ctx))}\n${all}`, 'text/plain')
    })
    .get('/skill.md', () => markdown(skillOf(guideOf(ctx))))
    .get('/server.json', () => json(serverOf(ctx)))
    .get('/.well-known/api-catalog', () => json(catalogueOf(ctx), 'application/linkset+json'))
