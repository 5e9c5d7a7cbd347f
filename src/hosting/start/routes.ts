import { type AnyElysia, Elysia } from 'elysia'

import { prefers } from '../../core/accept.ts'
import type { Described } from '../../core/description.ts'
import { answer, type Entity } from '../../core/entity.ts'
import { readDescription } from '../../core/operations.ts'
import type { House } from '../../house.ts'
import { withoutKey } from '../key.ts'
import { openOperation } from '../operation.ts'
import { describeAgentApi } from './description.ts'
import { catalogueOf, linksOf, serverOf } from './found.ts'
import { guideOf, markdownOf, skillOf } from './guide.ts'
import { operationsOf } from './operations.ts'
import * as shapes from './shapes.ts'

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
export const startRoutes = (house: House) =>
  new Elysia()
    .get(
      '/on',
      () => ({ on: house.config.agentsOn }),
      openOperation(
        { id: 'is_on', tag: 'Start', summary: 'Whether the Agent API is open.' },
        { 200: shapes.On },
      ),
    )
    .use(withoutKey(house))
    .get(
      '/',
      ({ request, set }) => {
        set.headers.vary = 'accept'
        set.headers.link = linksOf(house)
        const guide = guideOf(house)
        return wantsMarkdown(request) ? markdown(markdownOf(guide)) : guide
      },
      openOperation(
        {
          id: 'start',
          tag: 'Start',
          summary: 'What this is and how to publish. Read it first.',
          more: 'With Accept: text/markdown, the same as a text.',
        },
        { 200: shapes.Guide },
        ['agents_off'],
      ),
    )

/** Document 1, operation 3: the description of `api`, made when it is first asked for. */
export function descriptionRoutes(house: House, api: Described) {
  let description: Promise<Entity> | undefined
  return new Elysia()
    .use(withoutKey(house))
    .get(
      '/openapi.json',
      async ({ request }) => answer(request, await (description ??= describeAgentApi(house, api))),
      openOperation(
        { id: 'get_openapi', tag: 'Start', summary: 'This description (OpenAPI 3.1).' },
        { 200: shapes.OpenApi },
        ['agents_off'],
      ),
    )
}

/** What agents and their programs look for at the top of the site, whatever they read first. */
export const guideFiles = (house: House, api: Pick<AnyElysia, 'handle'>) =>
  new Elysia()
    .use(withoutKey(house))
    .get('/llms.txt', () => markdown(markdownOf(guideOf(house)), 'text/plain'))
    .get('/llms-full.txt', async () => {
      const described = await api.handle(new Request('http://localhost/api/openapi.json'))
      const all = operationsOf(readDescription(await described.json()))
      return markdown(`${markdownOf(guideOf(house))}\n${all}`, 'text/plain')
    })
    .get('/skill.md', () => markdown(skillOf(guideOf(house))))
    .get('/server.json', () => json(serverOf(house)))
    .get('/.well-known/api-catalog', () => json(catalogueOf(house), 'application/linkset+json'))
