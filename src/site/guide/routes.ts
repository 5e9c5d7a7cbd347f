import { Elysia } from 'elysia'

import type { AppContext } from '../../kernel/context.ts'
import { checkAgentsOn } from '../../people/authentication.ts'
import { apiCatalog, mcpServerManifest } from './discovery.ts'
import { getGuide, guideMarkdown, skillMarkdown } from './guide.ts'
import installText from './install.md' with { type: 'text' }
import { operationsText } from './operations-text.ts'
import { readDescription } from './read-description.ts'

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
    .get('/install.md', () =>
      markdown(installText.replaceAll('{{releases}}', ctx.config.releasesUrl)),
    )
    .get('/server.json', () => json(mcpServerManifest(ctx)))
    .get('/.well-known/api-catalog', () => json(apiCatalog(ctx), 'application/linkset+json'))
